// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// watches says that the memory of processes can be looked at.
	watches = true
	// groupPrefix begins the name of the control group of a cluster.
	groupPrefix = "pipedeck-pods-"
)

// NewGroups finds out what the machine allows. The directory of the cluster's pods names its control groups, and a file
// in it says where these are, so that the next Groups ends and removes what a killed cluster has left, also when it
// runs in another control group itself.
func NewGroups(dir string) *Groups {
	sum := sha256.Sum256([]byte(dir))
	name := groupPrefix + hex.EncodeToString(sum[:8])
	g := &Groups{note: filepath.Join(dir, GroupFile)}
	g.endLeft(name)
	hierarchies := ownHierarchies()
	g.add(name, hierarchies, 1, hierarchy.memory)
	if len(g.places) == 0 || g.places[0].version == 1 {
		g.add(name, hierarchies, 1, hierarchy.tracking)
	}
	if len(g.places) == 0 {
		g.add(name, hierarchies, 1, hierarchy.other)
	}
	return g
}

// endLeft ends what is in the groups of the last cluster on the same directory, and removes them.
func (g *Groups) endLeft(name string) {
	left, err := os.ReadFile(g.note)
	if err != nil {
		return
	}
	for dir := range strings.Lines(string(left)) {
		if dir = strings.TrimSpace(dir); filepath.IsAbs(dir) && filepath.Base(dir) == name {
			killGroup(dir)
			removeGroup(dir)
		}
	}
	_ = os.Remove(g.note)
}

// add adds up to limit places in those hierarchies in which as finds one that works.
func (g *Groups) add(name string, in []hierarchy, limit int, as func(hierarchy) (place, bool)) {
	for _, each := range in {
		found, ok := as(each)
		if !ok || limit == 0 {
			continue
		}
		found.dir = filepath.Join(found.dir, name)
		killGroup(found.dir)
		removeGroup(found.dir)
		if !makeGroup(found.dir) {
			continue
		}
		if !found.works() || !g.noted(found) {
			removeGroup(found.dir)
			continue
		}
		g.places = append(g.places, found)
		limit--
	}
}

// noted writes the places to the file, before the first process comes into them.
func (g *Groups) noted(more place) bool {
	var text strings.Builder
	for _, place := range append(slices.Clone(g.places), more) {
		text.WriteString(place.dir + "\n")
	}
	return os.WriteFile(g.note, []byte(text.String()), 0o600) == nil
}

// works tries what containers need.
func (p place) works() bool {
	if p.memory && p.version == 2 && !write(p.dir, "cgroup.subtree_control", "+memory") {
		return false
	}
	try := p
	try.dir = filepath.Join(p.dir, "try")
	if !makeGroup(try.dir) {
		return false
	}
	defer removeGroup(try.dir)
	if p.memory && !try.bound(1<<30) {
		return false
	}
	there, back := true, true
	if p.version == 1 {
		onThread(func() { there, back = try.enterThread(), try.leaveThread() })
	}
	return there && back
}

// Close removes the control groups. All processes have ended.
func (g *Groups) Close() {
	for _, place := range g.places {
		removeGroup(place.dir)
	}
	if len(g.places) > 0 {
		_ = os.Remove(g.note)
	}
}

// New makes a group for a run of a container, whose memory it bounds unless bytes is 0. The name is that of no other
// group which is in use.
func (g *Groups) New(name string, bytes int64) *Group {
	group := &Group{groups: g, bytes: bytes}
	for _, part := range g.places {
		part.dir = filepath.Join(part.dir, name)
		if !makeGroup(part.dir) {
			continue
		}
		part.memory = part.memory && bytes > 0 && part.bound(bytes)
		group.parts = append(group.parts, part)
	}
	return group
}

// bound bounds the memory of a group.
func (p place) bound(bytes int64) bool {
	limit := strconv.FormatInt(bytes, 10)
	if p.version == 1 {
		return write(p.dir, "memory.limit_in_bytes", limit)
	}
	_ = write(p.dir, "memory.swap.max", "0") // a machine without swap has no such file
	_ = write(p.dir, "memory.oom.group", "1")
	return write(p.dir, "memory.max", limit)
}

// makeGroup makes a control group; false when it is none afterwards: a plain directory has no such file.
func makeGroup(dir string) bool {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
		_ = os.Remove(dir)
		return false
	}
	return true
}

// write sets a control of a group; a file that the kernel has not made is not made.
func write(dir, file, value string) bool {
	control, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	_, err = control.WriteString(value)
	return errors.Join(err, control.Close()) == nil
}
