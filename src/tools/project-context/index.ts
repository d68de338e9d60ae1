export { contextFile, type ProjectContext, projectContext } from './project-context.ts'
export { findProjectRoot, foldersUpTo, hasConfiguration, isRepository, readRegularFile } from './project-files.ts'
