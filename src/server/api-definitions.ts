import { readFileSync } from 'node:fs'
import { packageFile } from '../project/index.ts'
import type { Definitions } from './http/index.ts'

/** What answers refer to in `/openapi.json`: the published definitions. Read when somebody asks for it. */
export const apiDefinitions = (): Definitions => JSON.parse(readFileSync(packageFile('schemas/stream-event.schema.json'), 'utf8')).$defs
