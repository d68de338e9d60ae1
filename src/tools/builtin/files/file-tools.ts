import type { Tool } from '../../../contracts/index.ts'
import type { Workspace } from '../../workspace/index.ts'
import { applyPatchTool } from './apply-patch.ts'
import { editFileTool } from './edit-file.ts'
import { listFilesTool } from './list-files.ts'
import { readFileTool } from './read-file.ts'
import { searchFilesTool } from './search-files.ts'
import { writeFileTool } from './write-file.ts'

/** The tools that work on the files of one workspace. */
export function fileTools(workspace: Workspace): readonly Tool[] {
  return [
    readFileTool(workspace),
    writeFileTool(workspace),
    editFileTool(workspace),
    applyPatchTool(workspace),
    listFilesTool(workspace),
    searchFilesTool(workspace),
  ]
}
