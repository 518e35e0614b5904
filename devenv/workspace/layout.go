// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pipedeck/pipedeck/system/owned"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// item is a thing that an environment creates in its directory. Anything else in the directory belongs to someone else
// and is never removed.
type item struct {
	// pattern is the pattern of path.Match for the name.
	pattern string
	kind    itemKind
	// holds are the items of a folder or a store.
	holds []item
	// degrades says that the part that opens the file reports anything else in its place as a problem of the running
	// environment. Otherwise such a thing keeps the environment from starting.
	degrades bool
	// sign is a file in a tree that shows that the environment created it; empty where no user would create such a
	// tree.
	sign string
	// stays reports whether a file is left although the environment created it; nil for one that never is.
	stays func(root *os.Root, name string) bool
}

type itemKind int

const (
	// fileItem also covers the drafts that WriteFile renames.
	fileItem itemKind = iota
	// folderItem is a directory of items. Opening the environment checks them.
	folderItem
	// storeItem is a directory of items that another process fills. Opening the environment does not read it.
	storeItem
	// treeItem is a directory whose content has names that no one can list, such as a checkout or a database. It is
	// removed with everything in it.
	treeItem
)

// layout lists everything that an environment creates, except its mark and its lock.
var layout = []item{
	{pattern: runningFile},
	{pattern: lastRunFile},
	{pattern: addressFile},
	{pattern: metricsFile},
	{pattern: "piped.yaml"},
	{pattern: "services.env"},
	{pattern: "reattach", kind: folderItem, holds: []item{{pattern: "targets.json"}, {pattern: ".reattach-*"},
		{pattern: "*.config.json"}}},
	{pattern: "copy.txt"},  // of the UI: what was copied where a terminal has no clipboard
	{pattern: "cards.txt"}, // of the UI: the cards that were shown
	{pattern: HostKeyFile},
	{pattern: "history", degrades: true},
	{pattern: "history.new", degrades: true},
	{pattern: "history.breakpoints"},
	{pattern: "history.breakpoints.new"},
	{pattern: "history.damaged-[0-9]*"},
	{pattern: "history.unknown-[0-9]*"},
	{pattern: "history.missing-[0-9]*"},
	{pattern: ".history-written", degrades: true},
	{pattern: "kubeconfig"},
	{pattern: "kubeconfig-*"},
	{pattern: ".kubeconfig*.*"}, // drafts of the embedded Kubernetes
	{pattern: "secrets", kind: folderItem, holds: []item{
		{pattern: "piped.key"}, {pattern: "api.key"}, {pattern: "encryption.private.pem"},
		{pattern: "encryption.public.pem"},
	}},
	{pattern: "logs", kind: folderItem, holds: []item{
		{pattern: "*.log"}, {pattern: "*.log.*"},
		{pattern: "plugins", kind: folderItem, holds: []item{{pattern: "*.log"}, {pattern: "*.log.*"}}},
	}},
	{pattern: "plugins", kind: storeItem, holds: []item{{pattern: "*.bin"}, {pattern: "*.bin.new"},
		{pattern: "*.bin.build"}, {pattern: "*.bin.build.new"}}},
	{pattern: "piped", kind: storeItem, holds: pipedLayout},
	{pattern: "cluster", kind: storeItem, holds: []item{{pattern: "*", kind: storeItem, holds: clusterLayout}}},
	{pattern: TerraformFolder, kind: storeItem, holds: []item{
		{pattern: "*", kind: storeItem, holds: []item{{pattern: "*", kind: storeItem, holds: terraformLayout}}},
	}},
	{pattern: "head", kind: storeItem, holds: []item{{pattern: headPrefix + "*", kind: treeItem}}},
	{pattern: "live.git", kind: storeItem, holds: gitLayout},
	{pattern: "sources", kind: storeItem, holds: []item{{pattern: "*", kind: treeItem}}}, // plugins of a story
	{pattern: "repository", kind: treeItem, sign: sampleSign},
	{pattern: "repository.new", kind: treeItem, sign: sampleSign},
}

// HostKeyFile is the key of the server over SSH that shows the environment to others, so that clients know it again.
const HostKeyFile = "ssh_host_key"

// headPrefix begins the names of the checkouts that images are built from.
const headPrefix = "commit-"

// hex64 is the pattern of a SHA-256 as text.
var hex64 = strings.Repeat("[0-9a-f]", 64)

// hex16 is the pattern of the short digests in names.
var hex16 = strings.Repeat("[0-9a-f]", 16)

// pipedLayout lists the content of piped's work directory. piped itself empties sources at each start; home and tmp are
// given to other programs than ours.
var pipedLayout = []item{
	{pattern: owned.MarkFile},
	{pattern: owned.LockFile},
	{pattern: processtree.FileName},
	{pattern: processtree.FileName + ".new"},
	{pattern: "plugin-exits", kind: storeItem, holds: []item{{pattern: "*.json"}, {pattern: ".new-*"}}},
	{pattern: "sources", kind: treeItem},
	{pattern: "repositories", kind: storeItem, holds: []item{{pattern: "*", kind: storeItem, holds: gitLayout}}},
	{pattern: "spool", kind: storeItem, holds: []item{
		{pattern: hex16, kind: storeItem, holds: []item{{pattern: "for.txt*"}, {pattern: hex16 + ".report*"}}},
	}},
	{pattern: "plugins", kind: storeItem, holds: []item{
		{pattern: "*-" + hex16}, {pattern: ".fetch-*"},
		{pattern: "fetched", kind: storeItem, holds: []item{
			{pattern: "content", kind: storeItem, holds: []item{{pattern: hex64}}},
			{pattern: "urls", kind: storeItem, holds: []item{{pattern: hex64 + ".json"}}},
			{pattern: ".entry-*"}, {pattern: ".download-*"},
		}},
	}},
	{pattern: "tools", kind: storeItem, holds: []item{{pattern: "*-*"}, {pattern: ".install-*", kind: treeItem}}},
	{pattern: "home", kind: treeItem},
	{pattern: "tmp", kind: treeItem},
}

// clusterLayout lists what is stored about one cluster.
var clusterLayout = []item{
	{pattern: "kind.json"},
	{pattern: "kubeconfig"},
	{pattern: "kubeconfig.lock"}, // of kind's library, while it writes
	{pattern: "auto.json"},
	{pattern: ".auto.json-*"},
	{pattern: "lock"},
	{pattern: "port"},
	{pattern: ".port.*"},
	{pattern: "pki", kind: storeItem, holds: keyLayout},
	{pattern: "pki.new", kind: storeItem, holds: keyLayout},
	{pattern: "etcd", kind: treeItem},
	{pattern: "programs", kind: storeItem, holds: []item{
		{pattern: "list.json"}, {pattern: hex64}, {pattern: ".new-*"},
	}},
	{pattern: "pods", kind: treeItem},
	{pattern: "volumes", kind: treeItem},
	{pattern: processtree.FileName},
	{pattern: processtree.FileName + ".new"},
}

// keyLayout lists the certificates and keys of a cluster.
var keyLayout = []item{{pattern: "*.crt"}, {pattern: "*.key"}}

// gitLayout lists the top of a Git repository without a working tree: what Git creates, and piped for its mirrors.
var gitLayout = []item{
	{pattern: "HEAD"}, {pattern: "config"}, {pattern: "description"}, {pattern: "packed-refs"},
	{pattern: "packed-refs.new"},
	{pattern: "index"}, {pattern: "index.new"}, {pattern: "shallow"}, {pattern: "FETCH_HEAD"}, {pattern: "ORIG_HEAD"},
	{pattern: "gc.log"}, {pattern: "gc.pid"}, {pattern: "pruning"}, {pattern: "*.lock"}, {pattern: "._packed-refs*"},
	{pattern: "objects", kind: treeItem}, {pattern: "refs", kind: treeItem}, {pattern: "logs", kind: treeItem},
	{pattern: "info", kind: treeItem}, {pattern: "hooks", kind: treeItem}, {pattern: "branches", kind: treeItem},
	{pattern: "objects-damaged", kind: treeItem}, {pattern: "incoming-*", kind: treeItem},
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
