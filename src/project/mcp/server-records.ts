import { TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'

type Records<Value> = { readonly [server: string]: Value }

const version = 1
const maxTries = 200

/** A file of the user with one value for each MCP server. */
export class ServerRecords<Value> {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** `undefined`: the file is damaged. */
  async read(): Promise<Records<Value> | undefined> {
    return (await this.#read()).servers
  }

  /** Nothing of a damaged file is kept. @throws TroupeError `config_invalid` if it cannot be written. */
  async change(change: (servers: Records<Value>) => Records<Value>): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const { text, servers = {} } = await this.#read()
      const written = `${JSON.stringify({ version, servers: change(servers) }, null, 2)}\n`
      if (written === text || (await nodeConfigFileSystem.replace(this.path, text, written))) return
    }
    throw new TroupeError('config_invalid', `${this.path} cannot be written: other processes keep changing it.`, { remedy: 'Try again.' })
  }

  async #read(): Promise<{ readonly text: string | undefined; readonly servers?: Records<Value> }> {
    const content = await nodeConfigFileSystem.read(this.path)
    if (content === undefined) return { text: undefined, servers: {} }
    const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
    try {
      const parsed: unknown = JSON.parse(text)
      if (isPlainObject(parsed) && parsed.version === version && isPlainObject(parsed.servers))
        return { text, servers: parsed.servers as Records<Value> }
    } catch {
      // Damaged, as below.
    }
    return { text }
  }
}
