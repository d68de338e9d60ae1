// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../tools/http/api.ts'
import { makeProject, type Said, troupeIn, variablesIn } from './in-process.ts'

const { api, requests } = await startApi()
const token = 'very-secret-token-value'
const folder = await mkdtemp(join(tmpdir(), 'http-tools-'))
const before = process.cwd()
afterAll(async () => {
  process.chdir(before)
  await rm(folder, { recursive: true, force: true })
})

const document = {
  openapi: '3.1.0',
  servers: [{ url: 'https://api.example.com' }],
  paths: {
    '/pets': {
      get: { operationId: 'listPets', summary: 'Lists pets.' },
      post: { operationId: 'upload', requestBody: { content: { 'image/png': {} } } },
    },
  },
}
const config = {
  restTools: {
    totals: { description: 'Lists.', url: '${API}/list', result: 'data.total', auth: { bearer: '${LIST_TOKEN}' } },
  },
  openapi: {
    pets: { spec: './pets.json', baseUrl: `${api.origin}/echo`, headers: { 'X-Key': '${LIST_TOKEN}' } },
    down: { spec: 'http://127.0.0.1:1/openapi.json' },
  },
  approvals: { rules: [{ allow: ['totals', 'pets/*'] }] },
}

async function project(name: string, files: { readonly [file: string]: string } = {}) {
  const place = join(folder, name)
  await makeProject(place)
  const all = {
    'script.yaml': JSON.stringify({
      steps: [
        {
          calls: [
            { tool: 'totals', input: {} },
            { tool: 'pets__listPets', input: {} },
          ],
        },
        { text: 'Done.' },
      ],
    }),
    'clerk.ai': '---\ndescription: x\nmodels: script/script.yaml\ntools: [totals, pets/*, down/*]\n---\nWork.\n',
    'pets.json': JSON.stringify(document),
    '.ai-agent.json': JSON.stringify(config),
    ...files,
  }
  for (const [file, text] of Object.entries(all)) await writeFile(join(place, file), text)
  const env = { ...variablesIn(place), API: api.origin, LIST_TOKEN: token, HOME: place }
  const troupe = (words: readonly string[], more: { readonly [name: string]: string | undefined } = {}): Promise<Said> =>
    troupeIn(place, words, { ...env, ...more })
  return { place, troupe }
}

describe('REST tools and OpenAPI documents of a configuration', () => {
  it('run in a session after trust, by the same code as in programs; a broken document costs its own tools', async () => {
    const { troupe } = await project('runs')
    const untrusted = await troupe(['run', 'clerk.ai', 'go'])
    expect([untrusted.code, untrusted.stderr]).toEqual([2, expect.stringMatching(/restTools[\s\S]*There is no tool `totals`/)])
    const ran = await troupe(['run', 'clerk.ai', 'go', '--trust', '--json'])
    expect(ran).toMatchObject({ code: 0 })
    expect(
      requests
        .slice(-2)
        .map(({ url, headers }) => [url, headers.authorization ?? headers['x-key']])
        .toSorted(),
    ).toEqual([
      ['/echo/pets', token],
      ['/list', `Bearer ${token}`],
    ])
    const { outcome } = JSON.parse(ran.stdout)
    expect(JSON.stringify(outcome ?? ran.stdout)).toContain('Done.')
    expect(`${ran.stdout}${ran.stderr}`).not.toContain(token)
    expect(`${ran.stdout}${ran.stderr}`).toContain('The tools of \\"down\\" are not available')
  })

  it('are listed by their source, with an agent and without; a document that cannot be read is reported', async () => {
    const { troupe } = await project('listed')
    await troupe(['trust', '.ai-agent.json'])
    for (const words of [[], ['--agent', 'clerk.ai']]) {
      const { code, stdout, stderr } = await troupe(['tools', 'list', ...words, '--json'])
      const listed = JSON.parse(stdout).tools.map(({ name, source }: { name: string; source: string }) => `${name} ${source}`)
      expect([code, listed]).toEqual([0, expect.arrayContaining(['totals restTools', 'pets/listPets pets'])])
      expect(listed.includes('shell built-in')).toBe(words.length === 0)
      expect(stderr).toMatch(/down: .*127\.0\.0\.1:1/)
    }
  })

  it('asks again about a document that has changed', async () => {
    const { place, troupe } = await project('changes')
    expect((await troupe(['trust', '.ai-agent.json'])).code).toBe(0)
    expect((await troupe(['validate'])).stderr).not.toContain('trust')
    await writeFile(join(place, 'pets.json'), JSON.stringify({ ...document, info: {} }))
    const count = requests.length
    const ran = await troupe(['run', 'clerk.ai', 'go', '--json'])
    expect(`${ran.stdout}${ran.stderr}`).toMatch(/pets\.json is not trusted in its current form/)
    expect(ran.stderr).toMatch(/The tools of this document are not available because the file has changed since it was trusted/)
    expect(requests.slice(count).map(({ url }) => url)).toEqual(['/list'])
  })

  it('are checked by validate and doctor, and shown without secrets', async () => {
    const { troupe } = await project('checks')
    await troupe(['trust', '.ai-agent.json'])
    const checked = await troupe(['validate'], { LIST_TOKEN: undefined })
    expect([checked.code, checked.stderr]).toEqual([0, expect.stringMatching(/need the variable LIST_TOKEN, which is not set/)])
    expect(checked.stderr).toMatch(/#\/paths\/~1pets\/post: the operation is left out: its body must be image\/png/)
    const doctor = await troupe(['doctor'])
    expect(doctor.stdout).toMatch(/openapi: pets: 1 tool/)
    expect(doctor.stdout).toMatch(/127\.0\.0\.1:1\/openapi\.json cannot be read/)
    const shown = await troupe(['config', 'show', '--origin'])
    expect(shown.stdout).toMatch(/restTools\.totals\.auth\.bearer.*\$\{LIST_TOKEN\}/)
    for (const { stdout, stderr } of [checked, doctor, shown]) expect(`${stdout}${stderr}`).not.toContain(token)
  })

  it.each([
    [{ restTools: { shell: { description: 'x', url: 'https://a.example' } } }, '`shell` is not a valid name in `restTools`'],
    [{ restTools: { a__b: { description: 'x', url: 'https://a.example' } } }, '`a__b` is not a valid name in `restTools`'],
    [{ restTools: { a: { description: 'x' } } }, '"url" is missing in `restTools.a`'],
    [{ restTools: { a: { description: 'x', url: 'https://{h}/' } } }, '`restTools.a.url` must be an http: or https: URL'],
    [
      { restTools: { a: { description: 'x', url: 'https://a.example', parameters: { q: { type: 'txt' } } } } },
      'has a wrong value in `parameters.q/type`',
    ],
    [{ openapi: { a: { spec: './a.json', auth: { bearer: 'a', schemes: {} } } } }, '`openapi.a.auth` must have one kind of authentication'],
    [{ openapi: { a: { spec: './a.json', maxBytes: '100MB' } } }, '`openapi.a.maxBytes` must be a size from 1 bytes to 20000000 bytes'],
  ])('%j is refused', async (wrong, message) => {
    const { troupe } = await project(`wrong-${message.length}`, { '.ai-agent.json': JSON.stringify(wrong) })
    const checked = await troupe(['validate'])
    expect([checked.code, checked.stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
