import type { Availability } from './sandbox-types.ts'

export const howToGetIt = [
  'Install it: apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap or pacman -S bubblewrap.',
  'In a container it needs user namespaces: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or --privileged.',
  'On Ubuntu 24.04 and later, where it is not root: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap.',
  'Or switch the sandbox off, knowing that commands then may do what you may: sandbox: {mode: off}.',
].join(' ')

export const switchOff = 'Switch the sandbox off, knowing that commands then may do what you may: sandbox: {mode: off}.'

export function unavailable(message: string, remedy: string): Extract<Availability, { readonly kind: 'unavailable' }> {
  return { kind: 'unavailable', failure: { class: 'sandbox_unavailable', message, remedy } }
}
