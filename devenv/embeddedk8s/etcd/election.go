// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"reflect"
	"time"
	"unsafe"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/raft/v3"
)

// candidacyPause is the time between two checks whether a member can be a candidate: it cannot before it has read its
// log.
const candidacyPause = 5 * time.Millisecond

// elect makes a lone member the leader and returns when it answers. By itself, a member waits for others first, for up
// to an election timeout.
func elect(ctx context.Context, member *embed.Etcd) error {
	node := nodeOf(member)
	ticker := time.NewTicker(candidacyPause)
	defer ticker.Stop()
	for {
		select {
		case <-member.Server.ReadyNotify():
			return nil
		case err := <-member.Err():
			return err
		case <-member.Server.StopNotify():
			return errors.New("it stopped by itself")
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if node != nil && canBeCandidate(node.Status()) {
				_ = node.Campaign(ctx) // fails with ctx or when the member stops
			}
		}
	}
}

// canBeCandidate reports whether a candidacy of a member does no harm. A second one would begin again what the first
// one waits for: its vote on the disk. One before the log is applied reads entries that etcd may have dropped from
// memory already, which ends the process.
func canBeCandidate(s raft.Status) bool {
	return s.RaftState == raft.StateFollower && s.Applied >= s.Commit
}

// nodeOf is the member's part in Raft, which etcd has no other way to reach; nil in a release that keeps it elsewhere,
// whose members elect themselves, only later.
func nodeOf(member *embed.Etcd) raft.Node {
	field := reflect.ValueOf(member.Server).Elem().FieldByName("r")
	if field.Kind() != reflect.Struct {
		return nil
	}
	field = field.FieldByName("Node")
	if !field.IsValid() || field.Type() != reflect.TypeFor[raft.Node]() {
		return nil
	}
	return *(*raft.Node)(unsafe.Pointer(field.UnsafeAddr()))
}
