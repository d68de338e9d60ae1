import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { TroupeError } from '../contracts/index.ts'
import { readAgent } from './read-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-read-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const text = '---\ndescription: A test\nmodels: rehearsal\n---\nGo.\n'
const file = (name: string, content: string | Uint8Array = text): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

function problemsOf(path: string): readonly string[] {
  try {
    readAgent(path)
  } catch (error) {
    if (error instanceof TroupeError) return error.problems.map(({ message, remedy }) => `${message} ${remedy}`)
  }
  return expect.unreachable('it was read')
}

file('trip.ai')
file('trap.ai')

test('a file is read, and its schema from beside it', () => {
  file('city.json', '{ "type": "object" }')
  const path = file('city.ai', text.replace('models', 'output: { schemaRef: ./city.json }\nmodels'))
  expect(readAgent(path)).toMatchObject({ name: 'city', output: { format: 'json', schema: { type: 'object' } } })
})

test('one that is not there is told with the names that are near', () => {
  expect(problemsOf(join(folder, 'trp.ai'))).toEqual(['There is no such file. Did you mean trap.ai, trip.ai?'])
  expect(problemsOf(join(folder, 'nowhere', 'x.ai'))).toEqual(['There is no such file. Give the path of an agent, a .ai file.'])
})

test('a folder is told with what is in it, a device as what it is', () => {
  mkdirSync(join(folder, 'team.ai'))
  writeFileSync(join(folder, 'team.ai', 'lead.ai'), text)
  expect(problemsOf(join(folder, 'team.ai'))).toEqual(['It is a folder. In it there are lead.ai.'])
  expect(problemsOf('/dev/null')).toEqual([expect.stringMatching(/^It is not a regular file\. /)])
})

test('one that the system refuses is told with its reason, and no other name', () => {
  expect(problemsOf(join(folder, 'trip.ai', 'trip.ai'))).toEqual(['It cannot be read (ENOTDIR). Make it readable, or give another file.'])
})

test('a huge file is told as too large, and not read to its end', () => {
  expect(problemsOf(file('huge.ai', new Uint8Array(5 * 1024 * 1024).fill(0x61)))).toEqual([
    expect.stringMatching(/larger than 1048576 bytes/),
  ])
})

test('a schema that is not there is told at its setting', () => {
  expect(problemsOf(file('no-schema.ai', text.replace('models', 'output: { schemaRef: ./none.json }\nmodels')))).toEqual([
    expect.stringMatching(/none\.json: There is no such file/),
  ])
})
