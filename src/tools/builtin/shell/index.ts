export { type ShellOptions, shellName, shellTool } from './shell-tool.ts'
