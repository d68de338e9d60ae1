export { folderIncludes, type IncludeFiles } from './include-files.ts'
export { type PromptVariables, renderPrompt } from './render-prompt.ts'
export { isTemplate } from './scan-template.ts'
export type { TemplateText } from './template-text.ts'
