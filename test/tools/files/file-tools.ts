import type { Tool } from '../../../src/contracts/index.ts'
import { applyPatchTool } from '../../../src/tools/builtin/files/apply-patch.ts'
import { editFileTool } from '../../../src/tools/builtin/files/edit-file.ts'
import { listFilesTool } from '../../../src/tools/builtin/files/list-files.ts'
import { readFileTool } from '../../../src/tools/builtin/files/read-file.ts'
import { searchFilesTool } from '../../../src/tools/builtin/files/search-files.ts'
import { writeFileTool } from '../../../src/tools/builtin/files/write-file.ts'
import type { Workspace } from '../../../src/tools/workspace/index.ts'

export const fileTools = (workspace: Workspace): readonly Tool[] =>
  [readFileTool, writeFileTool, editFileTool, applyPatchTool, listFilesTool, searchFilesTool].map((create) => create(workspace))
