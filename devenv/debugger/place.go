// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"context"
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// lookInterval is the time between two questions where the process stands: Delve reports a stop only to the client that
// has let the process go, and a question that waits for a stop keeps other clients waiting.
const lookInterval = 500 * time.Millisecond

// firstLooks is how often a process may stand at first because Delve has just attached to it.
const firstLooks = 10

// place is where a process stands.
type place struct {
	running, gone  bool
	file, function string
	line           int
}

// relative names the place as users of an editor know it; empty for a process that runs. A process that waits in Go's
// runtime was paused.
func (p place) relative(source string) string {
	switch {
	case p.running:
		return ""
	case strings.HasPrefix(p.function, "runtime."):
		return paused
	}
	file := filepath.Base(p.file)
	if within, err := filepath.Rel(source, p.file); source != "" && err == nil && filepath.IsLocal(within) {
		file = within
	}
	text := fmt.Sprintf("%s:%d", file, p.line)
	if p.function != "" {
		text += " (" + path.Base(p.function) + ")"
	}
	return text
}

// paused is the place of a process that stands at no line of its author.
const paused = "a pause"

// watchPlaces asks a server of Delve where its process stands, and sends that once Delve has let it go, and each
// change, until ctx, the process or the server ends.
func watchPlaces(ctx context.Context, address string, places chan<- place) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	client := jsonrpc.NewClient(conn)
	defer func() { _ = client.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a question
	defer stop()
	var last place
	for look := 0; clock.Sleep(ctx, lookInterval); look++ {
		now, err := ask(client)
		if err != nil {
			return
		}
		// Delve listens before it lets the process go, and what a client asks for in between is lost.
		if attaching := last == (place{}) && !now.running && !now.gone; now == last || attaching && look < firstLooks {
			continue
		}
		select {
		case places <- now:
		case <-ctx.Done():
			return
		}
		if last = now; now.gone {
			return
		}
	}
}

// ask asks once. What the answer of Delve's API version 2 has besides is left alone.
func ask(client *rpc.Client) (place, error) {
	var answer struct {
		State struct {
			Running       bool
			Exited        bool `json:"exited"`
			CurrentThread struct {
				File     string `json:"file"`
				Line     int    `json:"line"`
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"currentThread"`
		}
	}
	err := client.Call("RPCServer.State", map[string]bool{"NonBlocking": true}, &answer)
	if err != nil {
		if strings.Contains(err.Error(), "has exited") {
			return place{gone: true}, nil
		}
		return place{}, err
	}
	s := answer.State
	if s.Exited {
		return place{gone: true}, nil
	}
	if s.Running {
		return place{running: true}, nil
	}
	return place{file: s.CurrentThread.File, line: s.CurrentThread.Line, function: s.CurrentThread.Function.Name}, nil
}
