//! Values that stand for others.

use crate::ir::{Function, Value};

/// Values that are to be replaced by others, collected first and replaced in one walk.
#[derive(Debug)]
pub(super) struct Replacements {
    /// What stands for each value: itself, or one that may be replaced in turn.
    by: Vec<Value>,
    changed: bool,
}

impl Replacements {
    /// Nothing is replaced yet.
    pub fn new(function: &Function) -> Self {
        Self { by: (0..function.values.len() as u32).map(Value).collect(), changed: false }
    }

    /// Uses of `old` become uses of `new`.
    pub fn set(&mut self, old: Value, new: Value) {
        self.reach(old.max(new));
        let new = self.get(new);
        if new != old {
            self.by[old.index()] = new;
            self.changed = true;
        }
    }

    /// What stands for a value in the end.
    pub fn get(&mut self, value: Value) -> Value {
        self.reach(value);
        let mut last = value;
        while self.by[last.index()] != last {
            last = self.by[last.index()];
        }
        // Shortens the way for the next question.
        let mut at = value;
        while at != last {
            at = std::mem::replace(&mut self.by[at.index()], last);
        }
        last
    }

    /// Something is replaced.
    pub fn any(&self) -> bool {
        self.changed
    }

    /// Replaces all uses, and hands names on to values that have none.
    pub fn apply(&mut self, function: &mut Function) {
        if !self.changed {
            return;
        }
        function.for_each_use_mut(|value| *value = self.get(*value));
        for (value, name) in std::mem::take(&mut function.names) {
            let by = self.get(value);
            if by == value || function.as_constant(by).is_none() {
                function.names.entry(by).or_insert(name);
            }
        }
    }

    /// Values can be added while replacements are collected.
    fn reach(&mut self, value: Value) {
        let len = self.by.len() as u32;
        self.by.extend((len..=value.0).map(Value));
    }
}
