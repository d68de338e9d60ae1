// A run that does not come to its end has to say where it hangs: every minute, what has been running for more than two,
// and once, which processes there are.
import { execFile } from 'node:child_process'

const minute = 60_000

// biome-ignore lint/style/noDefaultExport: vitest wants reporters so.
export default class StillRunning {
  #since = new Map()
  #open = new Map()
  #last = Date.now()
  #timer
  #hasToldOfProcesses = false

  onTestRunStart() {
    this.#timer = setInterval(() => this.#tell(), minute)
    this.#timer.unref()
  }

  onTestModuleStart({ relativeModuleId }) {
    this.#since.set(relativeModuleId, Date.now())
  }

  onTestCaseReady({ id, fullName, module }) {
    this.#open.set(id, { fullName, in: module.relativeModuleId })
  }

  onTestCaseResult({ id }) {
    this.#open.delete(id)
  }

  onTestModuleEnd({ relativeModuleId }) {
    this.#since.delete(relativeModuleId)
    this.#last = Date.now()
  }

  onTestRunEnd() {
    clearInterval(this.#timer)
  }

  #tell() {
    const long = [...this.#since].filter(([, since]) => Date.now() - since > 2 * minute)
    for (const [module, since] of long) {
      const open = [...this.#open.values()].filter((test) => test.in === module).map(({ fullName }) => fullName)
      say(`still running after ${seconds(since)} s: ${module}${open.length > 0 ? `: ${open.join('; ')}` : ''}`)
    }
    const isOverdue = this.#since.size === 0 && Date.now() - this.#last > minute
    if (isOverdue) say(`nothing has been running for ${seconds(this.#last)} s, and the run is not over`)
    if ((isOverdue || long.length > 0) && !this.#hasToldOfProcesses) this.#tellOfProcesses()
  }

  #tellOfProcesses() {
    this.#hasToldOfProcesses = true
    execFile('ps', ['axo', 'pid,ppid,etimes,stat,wchan:20,args'], (_, text) => {
      for (const line of text.split('\n')) if (!/\[.*\]$/.test(line)) say(line.slice(0, 200))
    })
  }
}

const seconds = (since) => Math.round((Date.now() - since) / 1000)
const say = (text) => process.stdout.write(`::: ${text}\n`)
