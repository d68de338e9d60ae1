import { dirname } from 'node:path'
import { defaultLimits, type Problem, TroupeError } from '../../contracts/index.ts'
import { folderIncludes } from '../templates/includes.ts'
import { renderPrompt } from '../templates/render-prompt.ts'
import { isTemplate } from '../templates/scan-template.ts'
import type { LoadedFile } from './loaded-file.ts'

interface FilledPrompts {
  readonly prompts: ReadonlyMap<LoadedFile, string>
  readonly problems: readonly Problem[]
}

interface PromptContext {
  toolsOf(file: LoadedFile): readonly string[]
  /** Called for each included file. */
  onFile?(path: string): void
}

/** Renders prompts that are templates. Prompts of foreign files are not templates. */
export async function fillPrompts(files: readonly LoadedFile[], { toolsOf, onFile }: PromptContext): Promise<FilledPrompts> {
  const prompts = new Map<LoadedFile, string>()
  const problems: Problem[] = []
  for (const file of files) {
    const { agent, dialect, path, place, promptLine } = file
    if (dialect !== 'troupe' || !isTemplate(agent.prompt)) continue
    try {
      const { name, description, output, limits } = agent
      const { maxToolTurns = defaultLimits.maxToolTurns } = limits
      const variables = { agent: { name, description }, tools: toolsOf(file), output: { format: output.format }, limits: { maxToolTurns } }
      prompts.set(
        file,
        await renderPrompt({ text: agent.prompt, place, firstLine: promptLine }, variables, folderIncludes(dirname(path), onFile)),
      )
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      problems.push(...error.problems)
    }
  }
  return { prompts, problems }
}
