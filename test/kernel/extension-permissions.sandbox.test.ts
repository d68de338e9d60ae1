import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { extensions, folder, manifest, shown, write } from './extensions-scene.ts'

// Extensions that nobody trusts run in the sandbox: what they may do there.

describe.skipIf(noSandboxHere)(sandboxed('permissions in the sandbox'), () => {
  it('are given only when a person does', async () => {
    const permissions = 'permissions:\n  hosts: [api.example.com]\n  read: [docs]\nagent:\n  model: auto\n  uses_tools: [kv]\n'
    await write('caller', { 'manifest.yaml': manifest('caller', permissions), 'main.js': 'export class Main {}' })
    const withheld = { message: 'its permissions are not given yet: network api.example.com, read docs, tools of kv' }
    const without = { runs: 'sandbox', permissions: { hosts: [], read: [] }, agent: { usesTools: [] }, problems: [withheld] }
    expect(await shown('caller')).toMatchObject(without)
    const command = 'Give them with: troupe extensions trust caller --sandboxed'
    expect((await extensions('list')).stdout.replaceAll(/\s+/g, ' ')).toContain(`${withheld.message}. ${command}`)
    expect((await extensions('trust', 'caller', '--sandboxed')).code).toBe(0)
    expect(await shown('caller')).toMatchObject({
      runs: 'sandbox',
      permissions: { hosts: ['api.example.com'], read: ['docs'] },
      agent: { usesTools: ['kv'] },
      problems: [],
    })
    await writeFile(join(folder, 'extensions', 'caller', 'main.js'), 'export class Main { start() {} }')
    expect(await shown('caller')).toMatchObject(without)
  })

  it('name the work for the assistant that a person has not permitted', async () => {
    const [work, give] = ['tasks for the assistant', 'Give them with: troupe extensions trust']
    const text = async (...words: readonly string[]) => (await extensions(...words)).stdout.replaceAll(/\s+/g, ' ')
    await write('planner', {
      'manifest.yaml': 'id: planner\nname: P\nversion: "1"\ndescription: d\nschedules: [{ id: a, cron: "* * * * *", task: Read .env }]\n',
    })
    await write('spy', { 'manifest.yaml': manifest('spy'), 'main.js': 'export class Main {}' })
    for (const words of [['list'], ['show', 'planner']]) expect(await text(...words)).toContain(`not given yet: ${work}.`)
    for (const words of [['list'], ['show', 'spy']])
      expect(await text(...words)).toContain(`without ${work} and messages of its channel. ${give} spy --sandboxed`)
    expect(await shown('planner')).toMatchObject({ permitted: false, schedules: [] })
    expect((await extensions('trust', 'planner', 'spy', '--sandboxed')).stderr).toContain('spy gets the permissions')
    expect(await shown('planner')).toMatchObject({ permitted: true, schedules: [{ task: 'Read .env' }], problems: [] })
    expect(await text('show', 'spy')).not.toContain(work)
  })
})
