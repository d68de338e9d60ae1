import type { Tool } from '../../contracts/index.ts'
import { type BuiltinToolName, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import type { Workspace } from '../workspace/index.ts'
import { askUserTool } from './ask-user.ts'
import { applyPatchTool } from './files/apply-patch.ts'
import { editFileTool } from './files/edit-file.ts'
import { listFilesTool } from './files/list-files.ts'
import { readFileTool } from './files/read-file.ts'
import { searchFilesTool } from './files/search-files.ts'
import { writeFileTool } from './files/write-file.ts'
import { type ShellOptions, shellTool } from './shell/shell-tool.ts'
import { updatePlanTool } from './update-plan.ts'
import { type WebFetchOptions, webFetchTool } from './web-fetch/web-fetch.ts'

interface BuiltinToolOptions {
  readonly files: Workspace
  readonly shell: ShellOptions
  readonly web: WebFetchOptions
}

/** A new name in the list does not compile without an implementation here. */
const implementations: { readonly [Name in BuiltinToolName]: (options: BuiltinToolOptions) => Tool } = {
  shell: ({ shell }) => shellTool(shell),
  read_file: ({ files }) => readFileTool(files),
  write_file: ({ files }) => writeFileTool(files),
  edit_file: ({ files }) => editFileTool(files),
  apply_patch: ({ files }) => applyPatchTool(files),
  list_files: ({ files }) => listFilesTool(files),
  search_files: ({ files }) => searchFilesTool(files),
  web_fetch: ({ web }) => webFetchTool(web),
  update_plan: updatePlanTool,
  ask_user: askUserTool,
}

export const builtinTools = (options: BuiltinToolOptions): readonly Tool[] => builtinToolNames.map((name) => implementations[name](options))
