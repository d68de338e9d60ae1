export { type ShellOptions, shellTool } from './shell-tool.ts'
