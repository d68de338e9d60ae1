// One file for each key, named by the key in hexadecimal. A write replaces the file as a whole, so readers, other processes and
// a crash never see half of a value.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Extension, ExtensionContext, Json, JsonObject, Tool, ToolOutput, ToolProvider } from 'troupe/extension'

const mostKeyBytes = 100
const mostValueBytes = 100_000
const mostKeys = 10_000
const mostListed = 100
const fileSuffix = '.json'

const keySchema = { type: 'string', minLength: 1, maxLength: mostKeyBytes, description: 'Key, such as `shopping:milk`.' }

export class KeyValueExtension implements Extension, ToolProvider {
  #folder = ''

  async initialize(context: ExtensionContext): Promise<void> {
    this.#folder = join(context.dataDir, 'values')
    await mkdir(this.#folder, { recursive: true })
    // A process that ended while it wrote leaves its new file behind.
    for (const name of await readdir(this.#folder)) if (!name.endsWith(fileSuffix)) await rm(join(this.#folder, name), { force: true })
  }

  getTools(): readonly Tool[] {
    return [this.#get(), this.#set(), this.#delete(), this.#list()]
  }

  #get(): Tool {
    return {
      name: 'get',
      description: 'Return the value of a key as JSON.',
      inputSchema: { type: 'object', properties: { key: keySchema }, required: ['key'], additionalProperties: false },
      effect: 'read',
      concurrency: 'shared',
      repeatable: true,
      execute: ({ key }) =>
        this.#withFile(String(key), async (file) => {
          const text = await readText(file)
          if (text === undefined) return failure(`There is no value under the key ${JSON.stringify(key)}.`, 'Call `list` to see the keys.')
          return { ok: true, content: text, value: JSON.parse(text) }
        }),
    }
  }

  #set(): Tool {
    const value = { description: 'Any JSON value: text, number, boolean, null, list or object.' }
    return {
      name: 'set',
      description: `Store a JSON value of at most ${mostValueBytes} bytes under a key. Replaces an earlier value.`,
      inputSchema: { type: 'object', properties: { key: keySchema, value }, required: ['key', 'value'], additionalProperties: false },
      effect: 'idempotent',
      concurrency: byKey,
      execute: ({ key, value }) => this.#withFile(String(key), (file) => this.#store(file, String(key), value ?? null)),
    }
  }

  #delete(): Tool {
    return {
      name: 'delete',
      description: 'Delete a key and its value.',
      inputSchema: { type: 'object', properties: { key: keySchema }, required: ['key'], additionalProperties: false },
      effect: 'idempotent',
      concurrency: byKey,
      execute: ({ key }) =>
        this.#withFile(String(key), async (file) => {
          await rm(file, { force: true })
          return { ok: true, content: `Deleted ${JSON.stringify(key)}.` }
        }),
    }
  }

  #list(): Tool {
    const prefix = { type: 'string', maxLength: mostKeyBytes, description: 'Only keys that begin with this text.' }
    const after = { type: 'string', maxLength: mostKeyBytes, description: 'Only keys after this one, to continue a long list.' }
    return {
      name: 'list',
      description: `List the keys in alphabetical order, at most ${mostListed}.`,
      inputSchema: { type: 'object', properties: { prefix, after }, additionalProperties: false },
      effect: 'read',
      concurrency: 'shared',
      repeatable: true,
      execute: async ({ prefix = '', after = '' }) => {
        const found = (await this.#keys()).filter((key) => key.startsWith(String(prefix)) && key > String(after))
        const shown = found.slice(0, mostListed)
        const rest = found.length - shown.length
        const more = rest > 0 ? `\n${rest} more. Call \`list\` with after: ${JSON.stringify(shown.at(-1))}.` : ''
        return { ok: true, content: shown.length === 0 ? 'There are no keys.' : `${shown.join('\n')}${more}`, value: shown }
      },
    }
  }

  async #store(file: string, key: string, value: Json): Promise<ToolOutput> {
    const text = JSON.stringify(value)
    const bytes = Buffer.byteLength(text)
    if (bytes > mostValueBytes) {
      return failure(`The value has ${bytes} bytes, at most ${mostValueBytes} are allowed.`, 'Store a shorter value, or use several keys.')
    }
    const isNew = (await readText(file)) === undefined
    if (isNew && (await this.#keys()).length >= mostKeys) {
      return failure(`There are already ${mostKeys} keys.`, 'Delete keys that are no longer needed.')
    }
    await replaceFile(file, text)
    return { ok: true, content: `Stored ${JSON.stringify(key)}.` }
  }

  async #keys(): Promise<readonly string[]> {
    const names = await readdir(this.#folder)
    return names.flatMap((name) => (name.endsWith(fileSuffix) ? [keyOf(name)] : [])).toSorted()
  }

  async #withFile(key: string, work: (file: string) => Promise<ToolOutput>): Promise<ToolOutput> {
    const size = Buffer.byteLength(key)
    if (size > mostKeyBytes) return failure(`The key has ${size} bytes, at most ${mostKeyBytes} are allowed.`, 'Use a shorter key.')
    return work(join(this.#folder, `${Buffer.from(key).toString('hex')}${fileSuffix}`))
  }
}

/** Calls for different keys may overlap. */
const byKey = { key: ({ key }: JsonObject) => `kv:${key}` }

const keyOf = (name: string): string => Buffer.from(name.slice(0, -fileSuffix.length), 'hex').toString()

const failure = (message: string, remedy: string): ToolOutput => ({ ok: false, error: { class: 'failed', message, remedy } })

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
