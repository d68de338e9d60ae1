export { findProjectRoot, foldersUpTo, hasConfiguration, isRepository } from './find-project-root.ts'
export { type ContextPlaces, type ContextText, contextFile, type ProjectContext, projectContext } from './project-context.ts'
export { readRegularFile } from './read-regular-file.ts'
export { realPathOf } from './real-path-of.ts'
