export { type WorkspaceKit, type WorkspaceKitOptions, workspaceKit } from './workspace-kit.ts'
