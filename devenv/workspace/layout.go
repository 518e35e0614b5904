// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"io/fs"
	"path"
	"strings"
)

// item is a thing that an environment creates in its directory. What is no item is not ours: it is never removed.
type item struct {
	// pattern is that of path.Match for the name.
	pattern string
	kind    itemKind
	// holds are the items of a folder.
	holds []item
	// sign is a file in a tree that shows that the environment created it; empty where no user would make such a tree.
	sign string
}

type itemKind int

const (
	// fileItem also covers the drafts that WriteFile renames.
	fileItem itemKind = iota
	// folderItem is a directory of items.
	folderItem
	// treeItem is a directory that one part of the environment fills as it likes; it is removed with all that it holds.
	treeItem
)

// layout is all that an environment creates, but for the mark and the lock.
var layout = []item{
	{pattern: "running.json"},
	{pattern: "address"},
	{pattern: "piped.yaml"},
	{pattern: "history"},
	{pattern: "history.new"},
	{pattern: "history.damaged-[0-9]*"},
	{pattern: "history.unknown-[0-9]*"},
	{pattern: "kubeconfig"},
	{pattern: "kubeconfig-*"},
	{pattern: "secrets", kind: folderItem, holds: []item{
		{pattern: "piped.key"}, {pattern: "api.key"}, {pattern: "encryption.private.pem"}, {pattern: "encryption.public.pem"},
	}},
	{pattern: "logs", kind: folderItem, holds: []item{
		{pattern: "*.log"}, {pattern: "*.log.*"},
		{pattern: "plugins", kind: folderItem, holds: []item{{pattern: "*.log"}, {pattern: "*.log.*"}}},
	}},
	{pattern: "plugins", kind: treeItem},
	{pattern: "piped", kind: treeItem},
	{pattern: "cluster", kind: treeItem},
	{pattern: "head", kind: treeItem},
	{pattern: "live.git", kind: treeItem},
	{pattern: "repository", kind: treeItem, sign: sampleSign},
	{pattern: "repository.new", kind: treeItem, sign: sampleSign},
}

// itemOf finds the item that a thing with that name and type is.
func itemOf(items []item, name string, mode fs.FileMode) (item, bool) {
	for _, i := range items {
		if i.kind == fileItem && mode.IsRegular() && (matches(i.pattern, name) || matches("."+i.pattern+"-*", name)) ||
			i.kind != fileItem && mode.IsDir() && matches(i.pattern, name) {
			return i, true
		}
	}
	return item{}, false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil && !strings.ContainsRune(name, '/')
}
