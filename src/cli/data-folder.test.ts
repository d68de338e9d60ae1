import { expect, test } from 'vitest'
import { dataFolder } from './data-folder.ts'

const home = '/home/ann'

test('the flag wins, then the state folder, then the home', () => {
  expect(dataFolder({ flag: '/data', env: { XDG_STATE_HOME: '/state' }, home })).toBe('/data')
  expect(dataFolder({ flag: 'data', env: {}, home })).toBe(`${process.cwd()}/data`)
  expect(dataFolder({ flag: undefined, env: { XDG_STATE_HOME: '/state' }, home })).toBe('/state/troupe')
  expect(dataFolder({ flag: undefined, env: { XDG_STATE_HOME: 'relative' }, home })).toBe('/home/ann/.local/state/troupe')
  expect(dataFolder({ flag: undefined, env: {}, home })).toBe('/home/ann/.local/state/troupe')
})
