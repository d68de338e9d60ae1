import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { type Attempt, type Scene, shellAttempts } from './attempts.ts'
import { find, ground } from './ground.ts'
import { kernelAttempts } from './kernel-attempts.ts'

// Real attempts to escape, of which none succeeds. The same commands succeed where there is no sandbox.

const attempts = [...shellAttempts, ...kernelAttempts]

describe.skipIf(noSandboxHere)(sandboxed('the sandbox'), () => {
  let scene: Scene
  let victim: ChildProcess
  /** Listens under a name that does not say where. */
  let service: ChildProcess
  const closers: (Server | Socket)[] = []
  let visits = 0
  let made = 0
  const out: string[] = []

  beforeAll(async () => {
    process.env.TROUPE_ESCAPE_SECRET = 'x'
    victim = spawn('/bin/sleep', ['600'], { stdio: 'ignore' })
    const base = ground()
    service = spawn(process.execPath, ['-e', `require('net').createServer().listen('relative.sock', () => console.log('ready'))`], {
      cwd: base.outside,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await new Promise((ready) => service.stdout?.once('data', ready))
    const abstractSocket = `troupe-escape-${process.pid}`
    const socket = join(base.outside, 'service.sock')
    const listen = async (where: number | string): Promise<number> => {
      const server = createServer((client) => {
        visits++
        client.destroy()
      })
      closers.push(server)
      await new Promise<void>((done) => (typeof where === 'number' ? server.listen(where, '127.0.0.1', done) : server.listen(where, done)))
      const address = server.address()
      return typeof address === 'object' ? (address?.port ?? 0) : 0
    }
    const names = createSocket('udp4', (question, from) => {
      visits++
      // "Server failure", for the same question.
      const answer = Buffer.from(question)
      answer[2] = 0x81
      answer[3] = 0x82
      names.send(answer, from.port, from.address)
    })
    closers.push(names)
    await new Promise<void>((done) => names.bind(0, '127.0.0.1', done))
    await listen(socket)
    await listen(`\0${abstractSocket}`)
    scene = {
      ...base,
      port: await listen(0),
      udpPort: names.address().port,
      socket,
      abstractSocket,
      victim: victim.pid!,
      reached: () => visits > 0,
    }
    expect(await scene.sandbox.probe()).toMatchObject({ kind: 'available' })
    await listen(join(scene.workspace, 'late.sock'))
  })

  afterAll(() => {
    delete process.env.TROUPE_ESCAPE_SECRET
    victim.kill('SIGKILL')
    service.kill('SIGKILL')
    for (const each of closers) each.close()
    scene.remove()
    console.log(`${made} attempts, ${out.length} succeeded${out.length > 0 ? `: ${out.join(', ')}` : ''}`)
  })

  const isOut = ({ isOut: looks }: Attempt, text: string): boolean => /^OUT$/m.test(text) || (looks?.(scene) ?? false)

  for (const attempt of attempts) {
    const missing = attempt.needs?.find((program) => find(program) === undefined)
    it.skipIf(missing !== undefined)(`refuses to ${attempt.name}${missing === undefined ? '' : ` (skipped: no ${missing})`}`, async () => {
      visits = 0
      const { text, startFault } = await scene.run(attempt.command(scene))
      expect(startFault).toBeUndefined()
      made++
      if (isOut(attempt, text)) out.push(attempt.name)
      expect(isOut(attempt, text), text).toBe(false)
      if (attempt.says !== undefined) expect(text).toContain(attempt.says)
    })
  }

  it('is what refused them: without it they succeed', async () => {
    for (const attempt of attempts.filter(({ control }) => control)) {
      visits = 0
      const { text } = await scene.runOutside(attempt.command(scene))
      expect(isOut(attempt, text), `${attempt.name}: ${text}`).toBe(true)
    }
  })

  it('was attacked at least forty times', () => {
    expect(made).toBeGreaterThanOrEqual(40)
    expect(out).toEqual([])
  })
})
