import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, type Ground, ground, processesNamed } from './ground.ts'

const MiB = 1024 ** 2
const node = JSON.stringify(process.execPath)

describe.skipIf(noSandboxHere)(sandboxed('limits'), () => {
  let place: Ground
  beforeAll(() => {
    place = ground()
  })
  afterAll(() => place.remove())

  it('end a fork bomb, and name the limit', async () => {
    // A shell that may start nobody any more may end by itself before it is ended.
    const { limit } = await place.run('bomb() { bomb | bomb & }; bomb; while :; do :; done', { processes: 64 })
    expect(limit).toBe('more than 64 processes and threads at once (sandbox.processes)')
  })

  it('count threads', async () => {
    const threads = `for (let i = 0; i < 40; i++) new (require('worker_threads').Worker)('setInterval(() => {}, 1000)', { eval: true })`
    const { limit } = await place.run(`${node} -e "${threads}"`, { processes: 32 })
    expect(limit).toContain('more than 32 processes')
  })

  it('end what eats memory, and name the limit', async () => {
    const { limit } = await place.run(`${node} -e "const all = []; for (;;) all.push(Buffer.alloc(16 * 1024 * 1024, 1))"`, {
      memory: 256 * MiB,
    })
    expect(limit).toBe('more than 256 MiB of memory, /tmp included (sandbox.memory)')
  })

  it('count the memory of many together', async () => {
    const eater = `${node} -e "const own = Buffer.alloc(100 * 1024 * 1024, 1); setInterval(() => own[0], 1000)"`
    const { limit } = await place.run(`${eater} & ${eater} & ${eater} & wait`, { memory: 256 * MiB })
    expect(limit).toContain('more than 256 MiB of memory')
  })

  it('bound what is stored in /tmp and /dev/shm', async () => {
    const { text, limit } = await place.run(
      'head -c 100000000 /dev/zero > /tmp/a; head -c 100000000 /dev/zero > /dev/shm/b; du -k /tmp/a /dev/shm/b',
      {
        memory: 128 * MiB,
      },
    )
    expect(limit).toBeUndefined()
    expect(text.match(/No space left on device/g)).toHaveLength(2)
    expect(text).toMatch(/^65536\s+\/tmp\/a$/m)
    expect(text).toMatch(/^16384\s+\/dev\/shm\/b$/m)
  })

  it('count files that have nothing in them', async () => {
    const { limit } = await place.run(`${node} -e "for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + i, '')"`, { memory: 64 * MiB })
    expect(limit).toContain('/tmp included')
  })

  it('leave those alone who stay below', async () => {
    const { limit, exitCode, text } = await place.run('for i in 1 2 3 4 5 6 7 8; do sleep 0.05 & done; wait; echo done', { processes: 16 })
    expect({ limit, exitCode, text }).toEqual({ limit: undefined, exitCode: 0, text: 'done\n' })
  })
})

describe.skipIf(noSandboxHere)('the end of a command', () => {
  let place: Ground
  beforeAll(() => {
    place = ground()
  })
  afterAll(() => place.remove())

  it('is the end of what it left in the background, in a session of its own, or forked twice', async () => {
    const mark = `troupe-stays-${process.pid}`
    const stays = `exec -a ${mark} sleep 600`
    const { exitCode } = await place.run(
      `bash -c '${stays}' & (setsid bash -c '${stays}' > /dev/null 2>&1 &); (trap "" HUP; (bash -c '${stays}' &) &); echo started`,
    )
    expect(exitCode).toBe(0)
    expect(await eventually(() => processesNamed(mark).length === 0)).toBe(true)
  })

  it('also reaches a process that ignores signals', async () => {
    const started = await place.sandbox.start({
      argv: ['/bin/sh', '-c', 'trap "" TERM INT HUP; echo ready; while :; do sleep 600; done'],
      cwd: place.workspace,
      environment: { PATH: '/usr/bin:/bin' },
    })
    if (!started.ok) throw new Error(started.failure.message)
    const { listen, ended, terminate, kill } = started.running
    await new Promise((resolve) => listen(resolve))
    terminate()
    kill()
    expect(await ended).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  })

  it('may be prepared by one that is asked', async () => {
    const started = await place.sandbox.start({
      argv: ['/bin/sh', '-c', 'trap "echo tidy; exit 3" TERM; echo ready; while :; do sleep 0.05; done'],
      cwd: place.workspace,
      environment: { PATH: '/usr/bin:/bin' },
    })
    if (!started.ok) throw new Error(started.failure.message)
    const { listen, ended, terminate } = started.running
    let text = ''
    const ready = new Promise<void>((resolve) =>
      listen((piece) => {
        text += Buffer.from(piece).toString()
        resolve()
      }),
    )
    await ready
    terminate()
    expect(await ended).toMatchObject({ exitCode: 3 })
    expect(text).toContain('tidy\n')
  })
})
