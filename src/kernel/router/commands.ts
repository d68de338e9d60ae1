import { cutText } from '../../util/well-formed.ts'

// What a person can type besides messages. A message that begins with a slash has a space before it.

const commands = {
  help: 'show this list',
  who: 'show who you are talking to',
  back: 'return to the agent before',
  stop: 'stop the current task; messages that it has not read wait for your next one',
  new: 'begin a new conversation',
  queue: 'MESSAGE: send it after the current task, not into it',
} as const

export type Command = { readonly name: keyof typeof commands | 'unknown'; readonly rest: string }

/** `undefined`: an ordinary message. `/etc/hosts` is one. A text after a command that takes none is `unknown`: it would be lost. */
export function parseCommand(text: string): Command | undefined {
  const [, word = '', rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/is.exec(text.trimEnd()) ?? []
  if (word === '') return undefined
  const name = word.toLowerCase()
  const isKnown = Object.hasOwn(commands, name) && (name === 'queue' || rest === '')
  return { name: isKnown ? (name as Command['name']) : 'unknown', rest }
}

export const helpText = `Commands:\n${Object.entries(commands)
  .map(([name, text]) => `  /${name.padEnd(6)} ${text}`)
  .join('\n')}\nA message that you send while an agent works reaches it at its next step.`

export const unknownCommandText = (text: string): string =>
  `"${cutText(text.trimEnd(), 80)}" is not a command. To send it as a message, put a space before it.\n${helpText}`
