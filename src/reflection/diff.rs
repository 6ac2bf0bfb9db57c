//! What changed from one interface to another: for the command line, and for shaders that are reloaded.
//!
//! Entry points, signature elements, bindings and constants are matched by their names and registers, not by their order.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::Value;

use super::Interface;

/// One difference between two interfaces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What differs: names of fields, and of what is matched by name in brackets, as `bindings[t0].count`.
    pub path: String,
    /// What the old interface has; none if the new one adds it.
    pub old: Option<Value>,
    /// What the new interface has; none if it lacks it.
    pub new: Option<Value>,
}

impl Change {
    /// The change in a few words, for logs: whole values are named, not shown.
    pub fn summary(&self) -> String {
        let is_whole =
            |value: &Option<Value>| value.as_ref().is_some_and(|value| value.is_object() || value.is_array());
        match (&self.old, &self.new) {
            (None, _) => format!("{} added", self.path),
            (_, None) => format!("{} removed", self.path),
            (old, new) if is_whole(old) || is_whole(new) => format!("{} changed", self.path),
            (Some(old), Some(new)) => format!("{} changed from {old} to {new}", self.path),
        }
    }
}

/// What differs between two interfaces, in their order.
///
/// # Errors
/// An interface cannot be made a JSON value: a bug.
pub fn changes(old: &Interface, new: &Interface) -> serde_json::Result<Vec<Change>> {
    let mut changes = Vec::new();
    compare(String::new(), &value(old)?, &value(new)?, &mut changes);
    Ok(changes)
}

/// An interface as a value in which bindings are referred to by their registers, not by their numbers.
fn value(interface: &Interface) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(interface)?;
    let keys = value["bindings"].as_array().map_or_else(Vec::new, |bindings| bindings.iter().map(key).collect());
    for entry in value["entry_points"].as_array_mut().into_iter().flatten() {
        let Some(used) = entry.pointer_mut("/library/bindings").and_then(Value::as_array_mut) else { continue };
        for number in used.iter_mut() {
            let key = number.as_u64().and_then(|number| keys.get(number as usize));
            if let Some(key) = key {
                *number = Value::String(key.clone());
            }
        }
        used.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    Ok(value)
}

fn compare(path: String, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let both = old.iter().map(|(name, value)| (name, Some(value), new.get(name)));
            let added =
                new.iter().filter(|(name, _)| !old.contains_key(*name)).map(|(name, value)| (name, None, Some(value)));
            for (name, old, new) in both.chain(added) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare_entries(path, old, new, changes);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.iter().chain(new).all(Value::is_object) => {
            let (old, new) = (keyed(old), keyed(new));
            let both = old.iter().map(|(key, value)| (key, Some(*value), new.get(key).copied()));
            let added =
                new.iter().filter(|(key, _)| !old.contains_key(*key)).map(|(key, value)| (key, None, Some(*value)));
            for (key, old, new) in both.chain(added) {
                compare_entries(format!("{path}[{}]", key.0), old, new, changes);
            }
        }
        _ if old == new => {}
        _ => changes.push(Change { path, old: Some(old.clone()), new: Some(new.clone()) }),
    }
}

fn compare_entries(path: String, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    match (old, new) {
        (Some(old), Some(new)) => compare(path, old, new, changes),
        (None, None) => {}
        (old, new) => changes.push(Change { path, old: old.cloned(), new: new.cloned() }),
    }
}

/// What something is matched by, and its number among those that have the same.
type Key = (String, usize);

/// Objects of a list by their keys.
fn keyed(values: &[Value]) -> BTreeMap<Key, &Value> {
    let mut seen = BTreeMap::<String, usize>::new();
    let key = |value| {
        let name = key(value);
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        ((name, *number - 1), value)
    };
    values.iter().map(key).collect()
}

/// What identifies an entry of an interface's lists: register of a binding, semantic of an element, else the name.
fn key(value: &Value) -> String {
    let number = |name: &str| value[name].as_u64();
    if let (Some(class), Some(register)) = (value["class"].as_str(), number("register")) {
        let letter = match class {
            "Cbv" => "b",
            "Srv" => "t",
            "Uav" => "u",
            _ => "s",
        };
        return match number("space") {
            None | Some(0) => format!("{letter}{register}"),
            Some(space) => format!("{letter}{register}, space{space}"),
        };
    }
    if let Some(semantic) = value["semantic"].as_str() {
        let index = value["semantic_indices"][0].as_u64().unwrap_or(0);
        return match number("stream") {
            None | Some(0) => format!("{}{index}", semantic.to_ascii_uppercase()),
            Some(stream) => format!("{}{index}, stream {stream}", semantic.to_ascii_uppercase()),
        };
    }
    value["name"].as_str().unwrap_or_default().to_owned()
}

/// `+ path: new`, `- path: old`, or `~ path: old -> new`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old, &self.new) {
            (None, Some(new)) => write!(f, "+ {}: {new}", self.path),
            (Some(old), None) => write!(f, "- {}: {old}", self.path),
            (old, new) => {
                let or_null = |value: &Option<Value>| value.clone().unwrap_or_default();
                write!(f, "~ {}: {} -> {}", self.path, or_null(old), or_null(new))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RESOURCES: &[u8] = include_bytes!("../../tests/fixtures/reflection/resources.dxbc");

    #[test]
    fn root_arguments_and_subobjects_are_matched_too() {
        let old = crate::reflect(include_bytes!("../../tests/fixtures/container/library.dxil")).unwrap();
        let mut new = old.clone();
        new.subobjects.retain(|subobject| subobject.name != "pipeline_config");
        let store = new.entry_points.iter_mut().find(|entry| entry.name == "store").unwrap();
        store.root_bindings[0].source = Some(crate::reflection::RootSource::Descriptor { parameter: 4 });
        let changes = changes(&old, &new).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(changes.len(), 2, "{changes:#?}");
        assert_eq!(changes[0], "~ entry_points[store].root_bindings[u0, space2].source.Descriptor.parameter: 0 -> 4");
        assert!(changes[1].starts_with("- subobjects[pipeline_config]: "), "{changes:#?}");
    }

    #[test]
    fn matched_by_register_semantic_and_name() {
        let old = crate::reflect(RESOURCES).unwrap();
        assert_eq!(changes(&old, &old).unwrap(), []);
        let mut new = old.clone();
        new.bindings.reverse();
        assert_eq!(changes(&old, &new).unwrap(), [], "the order means nothing");
        new.bindings.reverse();
        new.bindings[0].count = Some(7);
        new.bindings.pop();
        new.entry_points[0].facts.thread_group_size = Some([1, 2, 3]);
        let changes = changes(&old, &new).unwrap();
        assert_eq!(changes.len(), 3, "{changes:#?}");
        let path = |end: &str| changes.iter().find(|change| change.path.ends_with(end)).unwrap();
        assert_eq!(path(".count").new, Some(json!(7)));
        assert!(path(".count").path.starts_with("bindings["));
        assert_eq!(
            path("thread_group_size").to_string(),
            "~ entry_points[main].facts.thread_group_size: [8,4,2] -> [1,2,3]"
        );
        assert!(path(".count").summary().ends_with(" to 7"), "{}", path(".count").summary());
        assert!(path("thread_group_size").summary().ends_with("thread_group_size changed"));
        assert!(changes.iter().any(|change| change.new.is_none() && change.summary().ends_with("] removed")));
        assert!(changes.iter().any(|change| change.new.is_none() && change.to_string().starts_with("- bindings[")));
    }
}
