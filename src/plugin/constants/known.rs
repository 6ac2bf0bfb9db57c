//! Well-known names: what engines and Direct3D's own samples call the values that an engine supplies.

use super::{EngineMatrix, EngineValue, MatrixProduct, VectorConvention};

/// What a well-known name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownName {
    /// The value.
    pub value: EngineValue,
    /// The convention of the engine that uses the name; that of the material if `None`.
    pub convention: Option<VectorConvention>,
}

/// Looks a constant's name up.
///
/// Names of one engine alone are matched as they are written (`unity_ObjectToWorld`, `UNITY_MATRIX_MVP`, `View_WorldToClip`).
/// For all others letter case, underscores and a prefix `g`, `m`, `c` or `vs` do not matter, so that `g_mWorldViewProj`,
/// `gWorldViewProj`, `WorldViewProjection` and `matWVP` are one name.
pub fn known_name(name: &str) -> Option<KnownName> {
    if let Some((_, value)) = ENGINE_NAMES.iter().find(|(known, _)| *known == name) {
        return Some(KnownName { value: *value, convention: Some(VectorConvention::Column) });
    }
    let plain: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let value = find(&plain).or_else(|| {
        let prefixes = ["gm", "gv", "gf", "g", "m", "cb", "c", "vs", "ps", "mat", "matrix"];
        prefixes.iter().filter_map(|prefix| plain.strip_prefix(prefix)).find_map(find)
    })?;
    Some(KnownName { value, convention: None })
}

/// A name in lower case and without underscores and prefixes.
fn find(plain: &str) -> Option<EngineValue> {
    if let Some((_, value)) = VECTOR_NAMES.iter().find(|(known, _)| *known == plain) {
        return Some(*value);
    }
    let plain = plain.strip_suffix("matrix").or_else(|| plain.strip_suffix("mtx")).unwrap_or(plain);
    let (mut rest, mut inverse, mut transpose) = (plain, false, false);
    loop {
        let strip =
            |words: &[&str]| words.iter().find_map(|word| rest.strip_prefix(word).or_else(|| rest.strip_suffix(word)));
        if !inverse && let Some(shorter) = strip(&["inverse", "inv"]) {
            (rest, inverse) = (shorter, true);
        } else if !transpose && let Some(shorter) = strip(&["transposed", "transpose"]) {
            (rest, transpose) = (shorter, true);
        } else {
            break;
        }
    }
    let (_, product) = MATRIX_NAMES.iter().find(|(known, _)| *known == rest)?;
    Some(EngineValue::Matrix(EngineMatrix { product: *product, inverse, transpose }))
}

/// Names of matrices, beside `Inverse` and `Transpose`.
const MATRIX_NAMES: [(&str, MatrixProduct); 29] = [
    ("world", MatrixProduct::World),
    ("model", MatrixProduct::World),
    ("objecttoworld", MatrixProduct::World),
    ("localtoworld", MatrixProduct::World),
    ("worldmat", MatrixProduct::World),
    ("view", MatrixProduct::View),
    ("worldtoview", MatrixProduct::View),
    ("worldtocamera", MatrixProduct::View),
    ("projection", MatrixProduct::Projection),
    ("proj", MatrixProduct::Projection),
    ("viewtoclip", MatrixProduct::Projection),
    ("worldview", MatrixProduct::WorldView),
    ("modelview", MatrixProduct::WorldView),
    ("mv", MatrixProduct::WorldView),
    ("wv", MatrixProduct::WorldView),
    ("viewprojection", MatrixProduct::ViewProjection),
    ("viewproj", MatrixProduct::ViewProjection),
    ("vp", MatrixProduct::ViewProjection),
    ("worldtoclip", MatrixProduct::ViewProjection),
    ("worldtoprojection", MatrixProduct::ViewProjection),
    ("worldviewprojection", MatrixProduct::WorldViewProjection),
    ("worldviewproj", MatrixProduct::WorldViewProjection),
    ("modelviewprojection", MatrixProduct::WorldViewProjection),
    ("modelviewproj", MatrixProduct::WorldViewProjection),
    ("localtoclip", MatrixProduct::WorldViewProjection),
    ("objecttoclip", MatrixProduct::WorldViewProjection),
    ("wvp", MatrixProduct::WorldViewProjection),
    ("mvp", MatrixProduct::WorldViewProjection),
    ("worldviewprojmat", MatrixProduct::WorldViewProjection),
];

/// Names of vectors and scalars.
const VECTOR_NAMES: [(&str, EngineValue); 31] = [
    ("cameraposition", EngineValue::CameraPosition),
    ("camerapos", EngineValue::CameraPosition),
    ("cameraposws", EngineValue::CameraPosition),
    ("cameraworldpos", EngineValue::CameraPosition),
    ("campos", EngineValue::CameraPosition),
    ("eyeposition", EngineValue::CameraPosition),
    ("eyepos", EngineValue::CameraPosition),
    ("eyeposw", EngineValue::CameraPosition),
    ("eyepoint", EngineValue::CameraPosition),
    ("viewposition", EngineValue::CameraPosition),
    ("viewpos", EngineValue::CameraPosition),
    ("cameradirection", EngineValue::CameraDirection),
    ("cameradir", EngineValue::CameraDirection),
    ("objectposition", EngineValue::ObjectPosition),
    ("time", EngineValue::Time),
    ("ftime", EngineValue::Time),
    ("elapsedtime", EngineValue::Time),
    ("totaltime", EngineValue::Time),
    ("deltatime", EngineValue::DeltaTime),
    ("frametime", EngineValue::DeltaTime),
    ("viewportsize", EngineValue::ViewportSize),
    ("screensize", EngineValue::ViewportSize),
    ("resolution", EngineValue::ViewportSize),
    ("lightdirection", EngineValue::LightDirection),
    ("lightdir", EngineValue::LightDirection),
    ("sundirection", EngineValue::LightDirection),
    ("lightcolor", EngineValue::LightColor),
    ("lightdiffuse", EngineValue::LightColor),
    ("suncolor", EngineValue::LightColor),
    ("ambientcolor", EngineValue::AmbientColor),
    ("lightambient", EngineValue::AmbientColor),
];

const fn inverse(product: MatrixProduct) -> EngineValue {
    EngineValue::Matrix(EngineMatrix { product, inverse: true, transpose: false })
}

const fn inverse_transpose(product: MatrixProduct) -> EngineValue {
    EngineValue::Matrix(EngineMatrix { product, inverse: true, transpose: true })
}

/// Names of Unity and Unreal. Both multiply column vectors.
const ENGINE_NAMES: [(&str, EngineValue); 30] = [
    ("unity_ObjectToWorld", EngineValue::matrix(MatrixProduct::World)),
    ("unity_WorldToObject", inverse(MatrixProduct::World)),
    ("_Object2World", EngineValue::matrix(MatrixProduct::World)),
    ("_World2Object", inverse(MatrixProduct::World)),
    ("unity_MatrixV", EngineValue::matrix(MatrixProduct::View)),
    ("unity_MatrixInvV", inverse(MatrixProduct::View)),
    ("unity_MatrixVP", EngineValue::matrix(MatrixProduct::ViewProjection)),
    ("unity_MatrixInvVP", inverse(MatrixProduct::ViewProjection)),
    ("unity_WorldToCamera", EngineValue::matrix(MatrixProduct::View)),
    ("unity_CameraToWorld", inverse(MatrixProduct::View)),
    ("unity_CameraProjection", EngineValue::matrix(MatrixProduct::Projection)),
    ("unity_CameraInvProjection", inverse(MatrixProduct::Projection)),
    ("glstate_matrix_projection", EngineValue::matrix(MatrixProduct::Projection)),
    ("glstate_matrix_mvp", EngineValue::matrix(MatrixProduct::WorldViewProjection)),
    ("glstate_matrix_modelview0", EngineValue::matrix(MatrixProduct::WorldView)),
    ("glstate_matrix_invtrans_modelview0", inverse_transpose(MatrixProduct::WorldView)),
    ("UNITY_MATRIX_M", EngineValue::matrix(MatrixProduct::World)),
    ("UNITY_MATRIX_V", EngineValue::matrix(MatrixProduct::View)),
    ("UNITY_MATRIX_P", EngineValue::matrix(MatrixProduct::Projection)),
    ("UNITY_MATRIX_MV", EngineValue::matrix(MatrixProduct::WorldView)),
    ("UNITY_MATRIX_VP", EngineValue::matrix(MatrixProduct::ViewProjection)),
    ("UNITY_MATRIX_MVP", EngineValue::matrix(MatrixProduct::WorldViewProjection)),
    ("_WorldSpaceCameraPos", EngineValue::CameraPosition),
    ("_WorldSpaceLightPos0", EngineValue::DirectionToLight),
    ("_LightColor0", EngineValue::LightColor),
    ("unity_AmbientSky", EngineValue::AmbientColor),
    ("View_WorldToClip", EngineValue::matrix(MatrixProduct::ViewProjection)),
    ("View_TranslatedWorldToClip", EngineValue::matrix(MatrixProduct::ViewProjection)),
    ("View_WorldCameraOrigin", EngineValue::CameraPosition),
    ("Primitive_LocalToWorld", EngineValue::matrix(MatrixProduct::World)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_engines_and_samples() {
        let value = |name: &str| known_name(name).map(|known| known.value.to_string());
        for (name, expected) in [
            ("g_World", "World"),
            ("g_mWorldViewProjection", "WorldViewProjection"),
            ("gWorldViewProj", "WorldViewProjection"),
            ("WorldViewProj", "WorldViewProjection"),
            ("matWVP", "WorldViewProjection"),
            ("worldMatrix", "World"),
            ("viewMatrix", "View"),
            ("gWorldInvTranspose", "WorldInverseTranspose"),
            ("WorldInverseTranspose", "WorldInverseTranspose"),
            ("gInvViewProj", "ViewProjectionInverse"),
            ("mProjection", "Projection"),
            ("unity_WorldToObject", "WorldInverse"),
            ("_WorldSpaceCameraPos", "CameraPosition"),
            ("g_vEyePosition", "CameraPosition"),
            ("gEyePosW", "CameraPosition"),
            ("g_fTime", "Time"),
        ] {
            assert_eq!(value(name).as_deref(), Some(expected), "{name}");
        }
        for name in ["Tint", "gMaterial", "m", "_MainTex_ST", "worlds", "inverse", ""] {
            assert_eq!(value(name), None, "{name}");
        }
    }

    #[test]
    fn engines_bring_their_convention() {
        assert_eq!(known_name("unity_ObjectToWorld").unwrap().convention, Some(VectorConvention::Column));
        assert_eq!(known_name("g_World").unwrap().convention, None);
    }
}
