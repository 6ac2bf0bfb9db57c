//! What a case left in its resources, in the form of what it could have expected.

use std::{collections::BTreeSet, fmt};

use serde::{Serialize, Serializer};

use super::{
    device::{Gpu, Halt},
    format::{Case, Class, Step, Steps},
    resources::Resources,
    values::Element,
};

/// Elements of a buffer, or of one mip and layer of a texture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// The resource.
    pub of: String,
    /// The mip of a texture; 0 for a buffer.
    pub mip: u32,
    /// The layer of a texture; 0 for a buffer, and for all slices of a 3D texture.
    pub layer: u32,
    /// All elements, of the resource's type.
    #[serde(serialize_with = "as_numbers")]
    pub values: Vec<Element>,
}

/// As a case would expect it.
impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(of: {:?}, ", self.of)?;
        for (name, number) in [("mip", self.mip), ("layer", self.layer)] {
            if number > 0 {
                write!(f, "{name}: {number}, ")?;
            }
        }
        write!(f, "values: [")?;
        for (index, element) in self.values.iter().enumerate() {
            write!(f, "{}{element}", if index > 0 { ", " } else { "" })?;
        }
        write!(f, "]),")
    }
}

/// As numbers; as the texts `NaN`, `inf` and `-inf` for those that JSON lacks.
fn as_numbers<S: Serializer>(elements: &[Element], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Value {
        Integer(i128),
        Single(f32),
        Float(f64),
        Text(String),
    }

    serializer.collect_seq(elements.iter().map(|element| match (element.as_integer(), element.as_float()) {
        (Some(value), _) => Value::Integer(value),
        // The shortest digits that give the number again are those of its own type.
        (None, Some(value)) if value.is_finite() && f64::from(value as f32) == value => Value::Single(value as f32),
        (None, Some(value)) if value.is_finite() => Value::Float(value),
        (None, _) => Value::Text(element.to_string()),
    }))
}

/// What is in all that a case can write: views of the class UAV, their counters, and what it draws to. Samples of
/// multisampled textures are averaged.
///
/// # Errors
/// One of them is missing, or cannot be read.
pub fn contents(gpu: &Gpu, case: &Case, resources: &Resources<'_>) -> Result<Vec<Contents>, Halt> {
    let mut contents = Vec::new();
    for name in written(case) {
        let (mips, layers) = match resources.textures.get(name) {
            Some(resource) if resource.texture.dimension() == wgpu::TextureDimension::D3 => {
                (resource.texture.mip_level_count(), 1)
            }
            Some(resource) => (resource.texture.mip_level_count(), resource.texture.depth_or_array_layers()),
            None => (1, 1),
        };
        for (layer, mip) in (0..layers).flat_map(|layer| (0..mips).map(move |mip| (layer, mip))) {
            let (bytes, ty) = resources.read(gpu, name, mip, layer, None)?;
            contents.push(Contents { of: name.to_owned(), mip, layer, values: ty.decode(&bytes).collect() });
        }
    }
    Ok(contents)
}

/// Names of the resources that a case can write.
fn written(case: &Case) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for binding in case.bindings.iter().filter(|binding| binding.class == Class::Uav) {
        names.extend(binding.of.iter().chain(&binding.counter).map(String::as_str));
    }
    targets(&case.run, &mut names);
    names.remove("");
    names
}

/// Adds the names of what steps draw to.
fn targets<'a>(steps: &'a Steps, names: &mut BTreeSet<&'a str>) {
    for step in &steps.0 {
        match step {
            Step::Draw(draw) => names.extend(draw.targets.iter().chain(&draw.depth).map(String::as_str)),
            Step::DrawMesh(draw) => names.extend(draw.targets.iter().chain(&draw.depth).map(String::as_str)),
            Step::With(with) => targets(&with.run, names),
            Step::Dispatch(..) | Step::Rays(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::values::ElementType;

    #[test]
    fn contents_read_like_expectations() {
        let values = [1.5f32, f32::NAN, f32::NEG_INFINITY, 0.1, -0.0];
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let values = ElementType::F32.decode(&bytes).collect();
        let contents = Contents { of: "Out0".into(), mip: 1, layer: 0, values };
        assert_eq!(contents.to_string(), r#"(of: "Out0", mip: 1, values: [1.5, NaN, -inf, 0.1, -0.0]),"#);
        let json = serde_json::to_string(&contents).unwrap();
        assert_eq!(json, r#"{"of":"Out0","mip":1,"layer":0,"values":[1.5,"NaN","-inf",0.1,-0.0]}"#);
    }

    #[test]
    fn wide_integers_keep_all_digits() {
        let values = ElementType::U64.decode(&[0xff; 8]).collect();
        let contents = Contents { of: "Out0".into(), mip: 0, layer: 0, values };
        assert_eq!(contents.to_string(), r#"(of: "Out0", values: [18446744073709551615]),"#);
        assert!(serde_json::to_string(&contents).unwrap().ends_with("[18446744073709551615]}"));
    }

    #[test]
    fn what_a_case_can_write() {
        let case = Case::parse(
            r#"(
                bindings: [
                    (class: Srv, register: 0, view: Raw, of: ["In0"]),
                    (class: Uav, register: 0, view: Raw, of: ["Out1", "", "Out0"], counter: "Count"),
                ],
                run: [
                    Dispatch(1, 1, 1),
                    With(shaders: [], run: Draw(vertices: 3, targets: ["", "Target"], depth: "Depth")),
                ],
            )"#,
        );
        let case = case.unwrap();
        let names = written(&case).into_iter().collect::<Vec<_>>();
        assert_eq!(names, ["Count", "Depth", "Out0", "Out1", "Target"]);
    }
}
