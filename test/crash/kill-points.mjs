import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

// What every subject of a sweep is made of: points at which it may be killed, effects that stay, a store that is watched.

/** Counts the points of one life, and ends the process at one of them; 0 is never. */
export class KillPoints {
  passed = []
  #killAt

  constructor(killAt) {
    this.#killAt = killAt
  }

  pass(label) {
    this.passed.push(label)
    if (this.passed.length === this.#killAt) process.kill(process.pid, 'SIGKILL')
  }
}

/** An effect on the world: a line on disk, once it is there it stays. */
export function effectsIn(path, points) {
  return (line) => {
    points.pass(`before effect ${line}`)
    const file = openSync(path, 'a')
    writeSync(file, `${line}\n`)
    fsyncSync(file)
    closeSync(file)
    points.pass(`after effect ${line}`)
    return `did ${line}`
  }
}

/** A store with a point on either side of whatever it makes durable: batches of events, and messages from outside. */
export function watched(store, points) {
  const around = (port, method, label) => ({
    ...bound(port),
    async [method](...given) {
      const name = label(...given)
      points.pass(`before ${name}`)
      const answer = await port[method](...given)
      points.pass(`after ${name}`)
      return answer
    },
  })
  return {
    journal: around(store.journal, 'append', ({ events }) => `append by ${events.at(-1).agentPath}: ${events.at(-1).type}`),
    inbox: around(store.inbox, 'add', (_tree, _client, { kind }) => `message ${kind}`),
    blobs: store.blobs,
    trees: store.trees,
    close: () => store.close(),
  }
}

function bound(port) {
  const methods = {}
  for (let level = port; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (name !== 'constructor' && typeof port[name] === 'function') methods[name] ??= port[name].bind(port)
    }
  }
  return methods
}
