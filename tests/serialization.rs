//! What is serialized is read again: interfaces and views of parts, as RON and JSON, of every fixture, and of every file of
//! the corpus where there is one.

use std::path::{Path, PathBuf};

use bevy_dxshader::{
    container::{
        CompilerVersion, ConstantTable, Container, DebugName, FunctionParameters, Interfaces, Level9Program,
        LibraryHeader, NestedContainer, PartView, PdbInfo, PipelineStateView, ProgramView, ResourceDefinitionsView,
        RootSignature, RuntimeData, ShaderHash, SignatureRecord, SourceInfo, Statistics,
    },
    reflection::Interface,
};
use serde::{Serialize, de::DeserializeOwned};

/// The value as RON and JSON, read again.
fn again<T: Serialize, U: DeserializeOwned>(value: &T, what: &str) -> [U; 2] {
    let ron = ron::to_string(value).unwrap_or_else(|error| panic!("{what}: {error}"));
    let json = serde_json::to_string(value).unwrap_or_else(|error| panic!("{what}: {error}"));
    [
        ron::from_str(&ron).unwrap_or_else(|error| panic!("{what}: {error}\n{ron}")),
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{what}: {error}\n{json}")),
    ]
}

macro_rules! check_views {
    ($view:expr, $what:expr, { $($variant:ident: $type:ty,)* }) => {
        match $view {
            $(PartView::$variant(value) => {
                for read in again::<_, $type>(value, $what) {
                    assert_eq!(&read, value, "{}", $what);
                }
                true
            })*
            _ => false,
        }
    };
}

/// Whether the view is of a kind that can be read again.
fn check_view(view: &PartView<'_>, what: &str) -> bool {
    if let PartView::PdbInfo(part) = view {
        let data = part.runtime_data().unwrap();
        for read in again::<_, RuntimeData<'static>>(&data, what) {
            assert_eq!(read, data, "{what}");
        }
        if let Some(info) = data.pdb_info {
            for read in again::<_, PdbInfo<'static>>(&info, what) {
                assert_eq!(read, info, "{what}");
            }
        }
        return true;
    }
    if let PartView::PipelineState(state) = view {
        for read in again::<_, PipelineStateView<'static>>(state, what) {
            assert_eq!(read, **state, "{what}");
        }
        return true;
    }
    if let PartView::Signature { elements } = view {
        for read in again::<_, Vec<SignatureRecord<'static>>>(elements, what) {
            assert_eq!(&read, elements, "{what}");
        }
        return true;
    }
    check_views!(view, what, {
        CompilerVersion: CompilerVersion<'static>,
        ConstantTable: ConstantTable<'static>,
        Container: NestedContainer,
        DebugName: DebugName<'static>,
        FunctionParameters: FunctionParameters<'static>,
        Hash: ShaderHash,
        Interfaces: Interfaces<'static>,
        Level9: Level9Program<'static>,
        LibraryHeader: LibraryHeader<'static>,
        Program: ProgramView,
        ResourceDefinitions: ResourceDefinitionsView<'static>,
        RootSignature: RootSignature,
        RuntimeData: RuntimeData<'static>,
        SourceInfo: SourceInfo<'static>,
        Statistics: Statistics,
    })
}

/// Counts of interfaces and views that are what they were.
fn check(files: &[PathBuf]) -> (usize, usize) {
    let (mut interfaces, mut views) = (0, 0);
    for path in files {
        let what = path.display().to_string();
        let bytes = std::fs::read(path).unwrap();
        let Ok(container) = Container::parse(&bytes) else { continue };
        if let Ok(interface) = bevy_dxshader::reflect(&bytes) {
            for read in again::<_, Interface>(&interface, &what) {
                assert_eq!(read, interface, "{what}");
            }
            interfaces += 1;
        }
        for part in container.parts() {
            let Ok(view) = PartView::read(&container, part) else { continue };
            views += usize::from(check_view(&view, &format!("{what}, {}", part.name)));
        }
    }
    (interfaces, views)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let files = entries.into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files.map(walkdir::DirEntry::into_path).collect()
}

#[test]
fn fixtures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (interfaces, views) = check(&files(&root.join("tests/fixtures")));
    println!("{interfaces} interfaces, {views} views of parts");
    assert!(interfaces > 200 && views > 1000, "{interfaces} interfaces, {views} views of parts");
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !folder.is_dir() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let (interfaces, views) = check(&files(&folder));
    println!("{interfaces} interfaces, {views} views of parts");
    assert!(interfaces > 3000, "{interfaces} interfaces");
}
