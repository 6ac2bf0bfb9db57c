//! Global variables, and what functions share with them.

use super::{Listing, names::escaped};
use crate::{
    Error, Result,
    dxil::module::{DllStorage, Global, GlobalId, Linkage, Symbol, Visibility},
};

impl Listing<'_> {
    /// The definition or declaration of a global variable.
    pub(super) fn global(&mut self, id: GlobalId, global: &Global) -> Result<()> {
        self.global_name(id)?;
        self.push(" = ");
        if global.initializer.is_none() && global.symbol.linkage == Linkage::External {
            self.push("external ");
        }
        self.symbol_keywords(&global.symbol)?;
        if global.symbol.unnamed_address {
            self.push("unnamed_addr ");
        }
        if global.space != 0 {
            self.write(format_args!("addrspace({}) ", global.space))?;
        }
        if global.externally_initialized {
            self.push("externally_initialized ");
        }
        self.push(if global.constant { "constant " } else { "global " });
        self.ty(global.ty)?;
        if let Some(initializer) = global.initializer {
            self.push(" ");
            self.operand(initializer)?;
        }
        if let Some(section) = &global.symbol.section {
            self.push(", section \"");
            escaped(&mut self.text, section);
            self.push("\"");
        }
        if global.symbol.alignment != 0 {
            self.write(format_args!(", align {}", global.symbol.alignment))?;
        }
        self.push("\n");
        Ok(())
    }

    /// Linkage, visibility and DLL storage.
    pub(super) fn symbol_keywords(&mut self, symbol: &Symbol) -> Result<()> {
        if let Some(foreign) = symbol.foreign {
            return Err(Error::unsupported(format!("assembly of a symbol with {foreign}")));
        }
        self.push(match symbol.linkage {
            Linkage::External => "",
            Linkage::WeakAny => "weak ",
            Linkage::Appending => "appending ",
            Linkage::Internal => "internal ",
            Linkage::LinkOnceAny => "linkonce ",
            Linkage::ExternalWeak => "extern_weak ",
            Linkage::Common => "common ",
            Linkage::Private => "private ",
            Linkage::WeakOdr => "weak_odr ",
            Linkage::LinkOnceOdr => "linkonce_odr ",
            Linkage::AvailableExternally => "available_externally ",
        });
        self.push(match symbol.visibility {
            Visibility::Default => "",
            Visibility::Hidden => "hidden ",
            Visibility::Protected => "protected ",
        });
        self.push(match symbol.storage {
            DllStorage::Default => "",
            DllStorage::Import => "dllimport ",
            DllStorage::Export => "dllexport ",
        });
        Ok(())
    }
}
