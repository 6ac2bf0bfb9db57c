//! Functions that stand for operations, written in HLSL and kept in the IR's text form.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    Error, Result,
    ir::{Function, FunctionId, text},
};

/// The folder's HLSL, as its `build.sh` compiled and lifted it: no function calls another, and none uses variables or
/// resources.
const TEXTS: [&str; 3] =
    [include_str!("library/half.ir"), include_str!("library/double.ir"), include_str!("library/integer64.ir")];

/// All functions by name.
static FUNCTIONS: LazyLock<Result<HashMap<String, Function>>> = LazyLock::new(|| {
    let mut functions = HashMap::new();
    for text in TEXTS {
        let module = text::parse(text)?;
        functions.extend(module.functions.into_iter().map(|function| (function.name.clone(), function)));
    }
    Ok(functions)
});

/// The functions that a module has already.
#[derive(Debug, Default)]
pub(super) struct Library {
    added: HashMap<&'static str, FunctionId>,
}

impl Library {
    /// A function, which is added to a module's if it is not there yet.
    ///
    /// # Errors
    /// There is no such function: a bug.
    pub fn function(&mut self, functions: &mut Vec<Function>, name: &'static str) -> Result<FunctionId> {
        if let Some(&id) = self.added.get(name) {
            return Ok(id);
        }
        let library = FUNCTIONS.as_ref().map_err(|error| Error::internal(format!("library: {error}")))?;
        let function =
            library.get(name).ok_or_else(|| Error::internal(format!("the library has no function {name}")))?;
        let id = FunctionId(functions.len() as u32);
        functions.push(function.clone());
        self.added.insert(name, id);
        Ok(id)
    }
}
