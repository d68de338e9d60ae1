import { type Files, manifest } from './assistant.ts'
import type { Script } from './scripted-provider.ts'
import { call } from './team-script.ts'

// What the builder writes: an agent that uses `kv` and a tool of its own, a tool, and a channel.

const notes: Files = {
  'manifest.yaml': manifest('notes', {
    entrypoint: 'main:Notes',
    more: 'agent:\n  model: auto\n  instructions: prompts/notes.jinja2\n  uses_tools: [kv]\n',
  }),
  'prompts/notes.jinja2': 'You keep notes.',
  'main.ts': `import type { Tool, ToolProvider } from 'troupe/extension'

export class Notes implements ToolProvider {
  getTools(): readonly Tool[] {
    return [
      {
        name: 'shout',
        description: 'Write a text in capital letters.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
        effect: 'read',
        execute: ({ text }) => String(text).toUpperCase(),
      },
    ]
  }
}
`,
}

/** Stores the task, reads it back, and shouts it. */
export const notesScript: Script = ({ users, results }) => {
  const text = users.at(-1) ?? ''
  const steps = [
    call('kv__set', { key: 'notes:last', value: text }),
    call('kv__get', { key: 'notes:last' }),
    call('notes__shout', { text: results[1] ?? '' }),
  ]
  return steps[results.length] ?? { text: `Noted: ${results.at(-1)}` }
}

const units: Files = {
  'manifest.yaml': manifest('units', { entrypoint: 'main:Units' }),
  'main.ts': `import type { Tool, ToolProvider } from 'troupe/extension'

export class Units implements ToolProvider {
  getTools(): readonly Tool[] {
    return [
      {
        name: 'miles_to_km',
        description: 'Convert miles to kilometres.',
        inputSchema: { type: 'object', properties: { miles: { type: 'number' } }, required: ['miles'], additionalProperties: false },
        effect: 'read',
        execute: ({ miles }) => \`\${Number(miles) * 1.609344} km\`,
      },
    ]
  }
}
`,
}

const mailbox: Files = {
  'manifest.yaml': manifest('mailbox', { entrypoint: 'main:Mailbox' }),
  'main.ts': `import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChannelProvider, Extension, ExtensionContext, OutgoingMessage } from 'troupe/extension'

export class Mailbox implements Extension, ChannelProvider {
  #context: ExtensionContext | undefined
  #timer: NodeJS.Timeout | undefined

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  start(): void {
    this.#timer = setInterval(() => this.#readInbox().catch((error) => this.#context?.logger.error(String(error))), 50)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async sendToUser(userId: string, message: OutgoingMessage): Promise<void> {
    await appendFile(this.#file('outbox.txt'), \`\${message.speaker} to \${userId}: \${message.text}\\n\`)
  }

  async #readInbox(): Promise<void> {
    const text = await readFile(this.#file('inbox.txt'), 'utf8').catch(() => '')
    if (text === '') return
    await this.#context?.onUserMessage({ userId: 'bob', text, messageId: text })
    await rm(this.#file('inbox.txt'), { force: true })
  }

  #file(name: string): string {
    return join(this.#context?.dataDir ?? '', name)
  }
}
`,
}

export const blueprints = { notes, units, mailbox }

const hostile = (id: string, body: string): Files => ({
  'manifest.yaml': manifest(id, { entrypoint: 'main:Main' }),
  'main.js': `export class Main {\n${body}\n}\n`,
})

/** Valid, and hostile once they run. */
export const hostileTwins = {
  throws: hostile('throws', `  start() { throw new Error('not today') }`),
  exits: hostile('exits', `  initialize() { process.exit(0) }`),
  strays: hostile('strays', `  start() { setTimeout(() => { throw new Error('late') }, 50) }`),
  blocks: hostile('blocks', `  start() { while (true); }`),
}
