//! Values that the engine supplies as it draws.

use std::{fmt, str::FromStr};

use bevy::math::{Mat4, Vec2, Vec3, Vec4};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value that the engine supplies. Material files write its name in quotes.
///
/// Matrices are Bevy's own: right-handed, y up, and clip space has Bevy's reversed depth, 1 at the near plane and 0 far
/// away. Shaders only multiply by them; a material's depth comparison is written as for Direct3D and reversed with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineValue {
    /// `World`, `View`, `Projection`, `WorldView`, `ViewProjection`, `WorldViewProjection`, each with `Inverse` or
    /// `Transpose` or both before or after it: `InverseView`, `WorldInverseTranspose`.
    Matrix(EngineMatrix),
    /// `CameraPosition`: in world space; w is 1.
    CameraPosition,
    /// `CameraDirection`: where the camera looks, in world space, unit length; w is 0.
    CameraDirection,
    /// `ObjectPosition`: origin of the object in world space; w is 1.
    ObjectPosition,
    /// `Time`: (seconds, sine of it, cosine of it, seconds since the last frame). A scalar takes the seconds.
    Time,
    /// `DeltaTime`: seconds since the last frame.
    DeltaTime,
    /// `ViewportSize`: (width, height, 1 / width, 1 / height) in physical pixels.
    ViewportSize,
    /// `LightDirection`: the way that the light of the first directional light travels, in world space, unit length; w is
    /// 0. Straight down without a light.
    LightDirection,
    /// `DirectionToLight`: [`EngineValue::LightDirection`] reversed, as most shaders want it.
    DirectionToLight,
    /// `LightColor`: linear colour of the first directional light, without its illuminance; w is 1. White without a light.
    LightColor,
    /// `AmbientColor`: linear colour of the ambient light, without its brightness; w is 1.
    AmbientColor,
}

/// One of the engine's matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EngineMatrix {
    /// Which.
    pub product: MatrixProduct,
    /// It is inverted.
    pub inverse: bool,
    /// It is transposed.
    pub transpose: bool,
}

/// The engine's transformations and their products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixProduct {
    /// Object to world.
    World,
    /// World to view.
    View,
    /// View to clip.
    Projection,
    /// Object to view.
    WorldView,
    /// World to clip.
    ViewProjection,
    /// Object to clip.
    WorldViewProjection,
}

/// How often a value changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frequency {
    /// Never.
    #[default]
    Constant,
    /// Each frame.
    Frame,
    /// For each view.
    View,
    /// For each object in each view.
    Object,
}

/// What is the same for all of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineFrame {
    /// Seconds since the start, wrapped as Bevy's shader time is.
    pub time: f32,
    /// Seconds since the last frame.
    pub delta_time: f32,
    /// The way that the first directional light travels.
    pub light_direction: Vec3,
    /// Its linear colour.
    pub light_color: Vec3,
    /// Linear colour of the ambient light.
    pub ambient_color: Vec3,
}

impl Default for EngineFrame {
    fn default() -> Self {
        Self {
            time: 0.0,
            delta_time: 0.0,
            light_direction: Vec3::NEG_Y,
            light_color: Vec3::ONE,
            ambient_color: Vec3::ONE,
        }
    }
}

/// What is the same for all of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineView {
    /// The frame.
    pub frame: EngineFrame,
    /// World to view.
    pub view_from_world: Mat4,
    /// View to clip.
    pub clip_from_view: Mat4,
    /// World to clip.
    pub clip_from_world: Mat4,
    /// View to world.
    pub world_from_view: Mat4,
    /// In physical pixels.
    pub viewport_size: Vec2,
}

/// What one object has in one view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineObject<'a> {
    /// The view.
    pub view: &'a EngineView,
    /// Object to world.
    pub world_from_local: Mat4,
}

/// A name that no [`EngineValue`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the engine has no value `{0}`: it has World, View, Projection, WorldView, ViewProjection, WorldViewProjection (each \
     also with Inverse and Transpose), CameraPosition, CameraDirection, ObjectPosition, Time, DeltaTime, ViewportSize, \
     LightDirection, DirectionToLight, LightColor and AmbientColor"
)]
pub struct UnknownEngineValue(pub String);

impl MatrixProduct {
    const NAMES: [(&'static str, Self); 6] = [
        ("World", Self::World),
        ("View", Self::View),
        ("Projection", Self::Projection),
        ("WorldView", Self::WorldView),
        ("ViewProjection", Self::ViewProjection),
        ("WorldViewProjection", Self::WorldViewProjection),
    ];
}

impl EngineMatrix {
    /// The matrix itself, neither inverted nor transposed.
    pub const fn new(product: MatrixProduct) -> Self {
        Self { product, inverse: false, transpose: false }
    }

    /// The matrix for column vectors: it is multiplied from the left.
    pub fn evaluate(self, object: &EngineObject) -> Mat4 {
        let EngineObject { view, world_from_local } = *object;
        let matrix = match self.product {
            MatrixProduct::World => world_from_local,
            MatrixProduct::View => view.view_from_world,
            MatrixProduct::Projection => view.clip_from_view,
            MatrixProduct::WorldView => view.view_from_world * world_from_local,
            MatrixProduct::ViewProjection => view.clip_from_world,
            MatrixProduct::WorldViewProjection => view.clip_from_world * world_from_local,
        };
        let matrix = if !self.inverse {
            matrix
        } else if self.product == MatrixProduct::View {
            view.world_from_view
        } else {
            matrix.inverse()
        };
        if self.transpose { matrix.transpose() } else { matrix }
    }
}

impl EngineValue {
    const VECTORS: [(&'static str, Self); 10] = [
        ("CameraPosition", Self::CameraPosition),
        ("CameraDirection", Self::CameraDirection),
        ("ObjectPosition", Self::ObjectPosition),
        ("Time", Self::Time),
        ("DeltaTime", Self::DeltaTime),
        ("ViewportSize", Self::ViewportSize),
        ("LightDirection", Self::LightDirection),
        ("DirectionToLight", Self::DirectionToLight),
        ("LightColor", Self::LightColor),
        ("AmbientColor", Self::AmbientColor),
    ];

    /// A matrix.
    pub const fn matrix(product: MatrixProduct) -> Self {
        Self::Matrix(EngineMatrix::new(product))
    }

    /// How often it changes.
    pub fn frequency(self) -> Frequency {
        match self {
            Self::Matrix(matrix) => match matrix.product {
                MatrixProduct::View | MatrixProduct::Projection | MatrixProduct::ViewProjection => Frequency::View,
                MatrixProduct::World | MatrixProduct::WorldView | MatrixProduct::WorldViewProjection => {
                    Frequency::Object
                }
            },
            Self::ObjectPosition => Frequency::Object,
            Self::CameraPosition | Self::CameraDirection | Self::ViewportSize => Frequency::View,
            Self::Time
            | Self::DeltaTime
            | Self::LightDirection
            | Self::DirectionToLight
            | Self::LightColor
            | Self::AmbientColor => Frequency::Frame,
        }
    }

    /// The vector, if it is one: scalars and short vectors are its first components.
    pub fn vector(self, object: &EngineObject) -> Option<Vec4> {
        let view = object.view;
        let frame = &view.frame;
        Some(match self {
            Self::Matrix(_) => return None,
            Self::CameraPosition => view.world_from_view.w_axis.truncate().extend(1.0),
            Self::CameraDirection => (-view.world_from_view.z_axis.truncate()).normalize_or_zero().extend(0.0),
            Self::ObjectPosition => object.world_from_local.w_axis.truncate().extend(1.0),
            Self::Time => Vec4::new(frame.time, frame.time.sin(), frame.time.cos(), frame.delta_time),
            Self::DeltaTime => Vec4::splat(frame.delta_time),
            Self::ViewportSize => {
                let size = view.viewport_size;
                Vec4::new(size.x, size.y, size.x.recip(), size.y.recip())
            }
            Self::LightDirection => frame.light_direction.extend(0.0),
            Self::DirectionToLight => (-frame.light_direction).extend(0.0),
            Self::LightColor => frame.light_color.extend(1.0),
            Self::AmbientColor => frame.ambient_color.extend(1.0),
        })
    }
}

impl fmt::Display for EngineValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Matrix(matrix) = self {
            let name = MatrixProduct::NAMES
                .iter()
                .find(|(_, product)| *product == matrix.product)
                .map_or("", |(name, _)| name);
            let inverse = if matrix.inverse { "Inverse" } else { "" };
            let transpose = if matrix.transpose { "Transpose" } else { "" };
            return write!(f, "{name}{inverse}{transpose}");
        }
        let name = Self::VECTORS.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for EngineValue {
    type Err = UnknownEngineValue;

    fn from_str(name: &str) -> Result<Self, UnknownEngineValue> {
        if let Some((_, value)) = Self::VECTORS.iter().find(|(known, _)| *known == name) {
            return Ok(*value);
        }
        let (mut rest, mut inverse, mut transpose) = (name, false, false);
        // Each word once, before or after the product.
        loop {
            let strip = |word: &str| rest.strip_prefix(word).or_else(|| rest.strip_suffix(word));
            if let Some(shorter) = strip("Inverse").filter(|_| !inverse) {
                (rest, inverse) = (shorter, true);
            } else if let Some(shorter) = strip("Transpose").filter(|_| !transpose) {
                (rest, transpose) = (shorter, true);
            } else {
                break;
            }
        }
        let product = MatrixProduct::NAMES.iter().find(|(known, _)| *known == rest).map(|(_, product)| *product);
        let product = product.ok_or_else(|| UnknownEngineValue(name.to_owned()))?;
        Ok(Self::Matrix(EngineMatrix { product, inverse, transpose }))
    }
}

impl Serialize for EngineValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EngineValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in
            ["World", "ViewInverse", "WorldViewProjectionInverseTranspose", "CameraPosition", "Time", "LightColor"]
        {
            let value: EngineValue = name.parse().unwrap();
            assert_eq!(value.to_string(), name);
        }
        let inverse_transpose =
            EngineValue::Matrix(EngineMatrix { product: MatrixProduct::World, inverse: true, transpose: true });
        for name in ["InverseTransposeWorld", "TransposeInverseWorld", "WorldInverseTranspose", "InverseWorldTranspose"]
        {
            assert_eq!(name.parse(), Ok(inverse_transpose), "{name}");
        }
        assert!("InverseInverseWorld".parse::<EngineValue>().is_err());
        assert!("Inverse".parse::<EngineValue>().is_err());
    }

    #[test]
    fn matrices_transform_as_their_names_say() {
        let world_from_view = Mat4::from_translation(Vec3::new(0.0, 0.0, 5.0));
        let clip_from_view = Mat4::perspective_infinite_reverse_rh(1.0, 1.0, 0.1);
        let view = EngineView {
            frame: EngineFrame::default(),
            view_from_world: world_from_view.inverse(),
            clip_from_view,
            clip_from_world: clip_from_view * world_from_view.inverse(),
            world_from_view,
            viewport_size: Vec2::new(200.0, 100.0),
        };
        let object = EngineObject { view: &view, world_from_local: Mat4::from_translation(Vec3::X) };
        let evaluate = |name: &str| match name.parse().unwrap() {
            EngineValue::Matrix(matrix) => matrix.evaluate(&object),
            _ => panic!("a matrix"),
        };
        assert_eq!(evaluate("WorldView") * Vec4::W, Vec4::new(1.0, 0.0, -5.0, 1.0));
        let product = evaluate("WorldViewProjection") * evaluate("WorldViewProjectionInverse");
        assert!(product.abs_diff_eq(Mat4::IDENTITY, 1e-5));
        assert_eq!(evaluate("TransposeWorld"), evaluate("World").transpose());
        assert_eq!(EngineValue::CameraPosition.vector(&object), Some(Vec4::new(0.0, 0.0, 5.0, 1.0)));
        assert_eq!(EngineValue::CameraDirection.vector(&object), Some(Vec4::new(0.0, 0.0, -1.0, 0.0)));
        assert_eq!(EngineValue::ViewportSize.vector(&object), Some(Vec4::new(200.0, 100.0, 0.005, 0.01)));
    }
}
