import { describe, expect, it } from 'vitest'
import { isPlainConfig } from '../../../src/tools/builtin/shell/plain-repository.ts'
import { gitSettings } from '../../../src/tools/sandbox/git-config.ts'

const usual = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
; a comment
[remote "origin"]
\turl = git@example.com:a/b.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
`

describe('settings of Git', () => {
  it('are read with section and key', () => {
    expect(gitSettings('[Core]\n Bare = true # x\n[remote "a \\" b"] URL = x\n[a]\n\tflag\n')).toEqual([
      { name: 'core.bare', value: 'true # x' },
      { name: 'remote.url', value: 'x' },
      { name: 'a.flag', value: '' },
    ])
  })

  it('are plain where they run nothing', () => {
    expect(isPlainConfig('')).toBe(true)
    expect(isPlainConfig(usual)).toBe(true)
  })

  it.each([
    ['a mirror', '[remote "origin"]\nmirror = true\npushurl = git@example.com:a/b.git'],
    ['a part of the files', '[core]\nsparseCheckout = true\nsparseCheckoutCone = true\n[index]\nsparse = false'],
    ['settings for each work tree', '[extensions]\nworktreeConfig = true'],
    ['a shared one', '[core]\nsharedRepository = 1\n[receive]\ndenyNonFastforwards = true'],
    ['advice', '[advice]\ndetachedHead = false'],
    ['a key for signatures', '[user]\nsigningkey = 0A1B'],
    ['what was solved before', '[rerere]\nenabled = true'],
    ['a submodule', '[submodule "x"]\nurl = ../x.git\nactive = true\nupdate = rebase'],
    ['a note of an editor', '[branch "x"]\nvscode-merge-base = origin/main'],
    ['no signatures', '[commit]\ngpgSign = false'],
  ])('are plain with %s', (_, text) => {
    expect(isPlainConfig(text)).toBe(true)
  })

  it.each([
    ['a monitor', '[core]\nfsmonitor = evil'],
    ['in any letters', '[CORE]\nFsMonitor=evil'],
    ['behind the section', '[core] fsmonitor = evil'],
    ['hooks elsewhere', '[core]\nhooksPath = evil'],
    ['a work tree', '[core]\nworktree = .'],
    ['a pager', '[core]\npager = evil'],
    ['a difference', '[diff]\nexternal = evil'],
    ['a filter', '[filter "x"]\nclean = evil'],
    ['an alias', '[alias]\nst = !evil'],
    ['further settings', '[include]\npath = ../evil'],
    ['a program for the way', '[remote "o"]\nurl = ext::sh -c evil'],
    ['an option for an address', '[remote "o"]\nurl = --upload-pack=evil'],
    ['an update by a program', '[submodule "x"]\nupdate = !evil'],
    ['a strategy', '[branch "x"]\nmergeOptions = --strategy=evil'],
    ['lines for a rebase', '[rebase]\ninstructionFormat = %n exec evil'],
    ['a program of the other side', '[remote "o"]\nuploadpack = evil'],
    ['another push address', '[remote "o"]\npushurl = ext::sh -c evil'],
    ['objects asked for', '[gc]\nrecentObjectsHook = evil'],
    ['signatures', '[commit]\ngpgSign = true'],
    ['a plain section in the older way', '[advice.x]\nfoo = true'],
    ['the older way to write sections', '[core.x]\nbare = true'],
    ['a line that goes on', '[core]\nbare = true\\\n\n[core]'],
    ['a line that is none', '[core]\n"evil'],
    ['a setting before any section', 'bare = true'],
  ])('are not plain with %s', (_, text) => {
    expect(isPlainConfig(text)).toBe(false)
  })
})
