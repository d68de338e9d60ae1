import { createPrivateKey } from 'node:crypto'
import type { McpServerAuth } from '../../../contracts/index.ts'
import { configFailure } from '../mcp-failure.ts'

/** @throws McpError if the settings cannot work. */
export function checkAuth(server: string, auth: McpServerAuth, url: URL): void {
  if (!isSecureUrl(url)) {
    const message = `The MCP server "${server}" has \`auth\`, but its URL is not HTTPS, so that tokens could be read on the way`
    throw configFailure(message, 'Use an https: URL. Only loopback addresses, such as 127.0.0.1, may use http:.')
  }
  if (auth.issuer !== undefined && !isSecureUrl(URL.parse(auth.issuer)))
    throw configFailure(`\`auth.issuer\` of the MCP server "${server}" is not an HTTPS URL`, 'Fix `auth.issuer`.')
  if (auth.type === 'oauth') return
  if ((auth.clientSecret === undefined) === (auth.privateKey === undefined))
    throw configFailure(
      `\`auth\` of the MCP server "${server}" needs either \`clientSecret\` or \`privateKey\``,
      'Set one of them, as `$' + '{NAME}`.',
    )
  if (auth.privateKey !== undefined && signingAlgorithm(auth.privateKey) === undefined)
    throw configFailure(
      `\`auth.privateKey\` of the MCP server "${server}" is not a usable key`,
      'Use an RSA key or an EC key (P-256, P-384, P-521) in PEM format, PKCS #8.',
    )
}

const loopbackHosts = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether nobody between the program and the server can read. */
export const isSecureUrl = (url: URL | null): boolean =>
  url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && loopbackHosts.test(url.hostname)))

const curves: { readonly [curve: string]: string } = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

/** The algorithm of a private key in PEM format; `undefined` if it cannot sign. */
export function signingAlgorithm(privateKey: string): string | undefined {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(privateKey)
    return asymmetricKeyType === 'rsa' ? 'RS256' : curves[asymmetricKeyDetails?.namedCurve ?? '']
  } catch {
    return undefined
  }
}
