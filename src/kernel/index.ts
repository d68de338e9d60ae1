export type { Bus, ExtensionManifest, FoundExtension, LoadedExtension, OpenedExtension, Router, SupervisorPort } from './kernel-types.ts'
