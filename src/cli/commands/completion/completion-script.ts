import { bundledModels } from '../../../models/by-name/index.ts'
import type { CompletedShell } from '../../arguments/command-specs.ts'
import { bashScript } from './bash-script.ts'
import { completedCommands } from './completed-commands.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

/** The output of `troupe completion SHELL`. Scripts contain words without quotes, so no name may need them. */
export async function completionScript(shell: CompletedShell): Promise<string> {
  const models = ['auto', 'rehearsal', ...(await bundledModels())]
  const commands = completedCommands(models.filter((name) => /^[\w./@+-]+$/.test(name)))
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return zshScript(commands)
    case 'fish':
      return fishScript(commands)
    default:
      return shell satisfies never
  }
}
