import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { McpHost } from './mcp-host.ts'

/** The folders that servers should work in: the workspace. */
export const rootsOf = ({ workspace }: McpHost) => ({ roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }] })
