//! Dynamic class linkage of Shader Model 5: interfaces of a program, and the classes whose methods the host puts there.

use serde::{Deserialize, Serialize};

/// The interfaces of a program, and what can fill them. Empty for all but few programs.
///
/// A program calls methods of an interface; which class they belong to, the host says when it sets the shader
/// (`ID3D11DeviceContext::PSSetShader`). Here it is said when the program is lifted, see
/// [`LiftOptions::classes`](crate::LiftOptions::classes).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassLinkage {
    /// Interfaces, by slot.
    pub interfaces: Vec<InterfaceSlots>,
    /// Classes.
    pub classes: Vec<ClassType>,
    /// Instances of classes that the HLSL declares: `ID3D11ClassLinkage::GetClassInstance` finds them by name.
    pub instances: Vec<ClassInstance>,
}

/// An interface, or an array of interfaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceSlots {
    /// Name of the variable in the HLSL; `fp#`, as listings call it, if the container no longer holds it.
    pub name: String,
    /// First slot: the number by which the program knows the interface.
    pub slot: u32,
    /// Slots it covers: more than one for an array.
    pub count: u32,
    /// What can fill it, in the order of the compiler. Unless the host chooses, the first does.
    pub implementations: Vec<Implementation>,
}

/// A class that can fill an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// Index into [`ClassLinkage::classes`].
    pub class: u32,
    /// Number of the function table with its methods, as this interface calls them.
    pub table: u32,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassType {
    /// Name in the HLSL; `ft#`, after its first function table, if the container no longer holds it.
    pub name: String,
    /// 16-byte rows of a constant buffer that an instance takes: elements of an array lie so far apart.
    pub rows: u32,
    /// Textures of an instance.
    pub textures: u32,
    /// Samplers of an instance.
    pub samplers: u32,
}

/// An instance of a class in the HLSL. One that is an array has the name of the whole, and the data of its first element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassInstance {
    /// Name of the variable.
    pub name: String,
    /// Index into [`ClassLinkage::classes`].
    pub class: u32,
    /// Where its data is.
    pub data: InstanceData,
}

/// Where the data of a class instance is: what the program reads from `this[]`, and `D3D11_CLASS_INSTANCE_DESC` holds. A
/// register that the class has no use for is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceData {
    /// Register of the constant buffer (`ConstantBuffer`).
    pub constant_buffer: u32,
    /// First 16-byte row in it (`BaseConstantBufferOffset`).
    pub row: u32,
    /// Register of the first texture (`BaseTexture`).
    pub texture: u32,
    /// Register of the first sampler (`BaseSampler`).
    pub sampler: u32,
}

impl ClassLinkage {
    /// The program has no interfaces.
    pub fn is_empty(&self) -> bool {
        self.interfaces.is_empty()
    }

    /// The interface that a name means: that of an interface, of an array of them, or of one of an array, as `light[2]`.
    pub fn interface(&self, name: &str) -> Option<&InterfaceSlots> {
        self.interfaces.iter().find(|interface| match name.strip_prefix(&interface.name) {
            Some("") => true,
            Some(index) => {
                let index = index.strip_prefix('[').and_then(|index| index.strip_suffix(']'));
                index.and_then(|index| index.parse::<u32>().ok()).is_some_and(|index| index < interface.count)
            }
            None => false,
        })
    }
}
