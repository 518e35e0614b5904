// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// historyFile is the name of the history in the directory of an environment.
const historyFile = "history"

// tryFlips damages a real history again and again, and restores a control plane from each: at most one object may
// be lost, and a control plane that has lost one must say so.
func tryFlips(ctx context.Context, c *chaos) error {
	history, err := c.recordHistory(ctx)
	if err != nil {
		return err
	}
	home, err := c.home("flips")
	if err != nil {
		return err
	}
	whole, err := restore(ctx, filepath.Join(home, "whole"), history)
	if err != nil {
		return err
	}
	if len(whole.problems) > 0 {
		return fmt.Errorf("the history that was not damaged has problems: %v", whole.problems)
	}
	most := 0
	for i := range c.flips {
		data, how, bearable := damage(c.random, history)
		found, err := restore(ctx, filepath.Join(home, fmt.Sprint(i)), data)
		if err != nil {
			return fmt.Errorf("%s: %w", how, err)
		}
		lost := whole.missing(found)
		if len(lost) > bearable {
			c.findings.add("flips: %s: lost %d objects, %s among them", how, len(lost), lost[0])
		}
		if len(lost) > 0 && len(found.problems) == 0 {
			c.findings.add("flips: %s: lost %d objects, and nothing is degraded", how, len(lost))
		}
		if bearable == 1 {
			most = max(most, len(lost))
		}
	}
	fmt.Printf("flips: %d damaged histories of %d bytes with %d objects; at most %d lost unless the end was cut off\n",
		c.flips, len(history), len(whole.objects), most)
	return nil
}

// recordHistory runs an environment for a while and returns its history.
func (c *chaos) recordHistory(ctx context.Context) ([]byte, error) {
	e, stop, err := c.start(ctx, "history", c.bin, []string{"--cluster", "none"})
	if err != nil {
		return nil, err
	}
	defer stop()
	for i := range 10 {
		if _, err := e.repository.commit(ctx, steadyApps[i%len(steadyApps)]); err != nil {
			return nil, err
		}
	}
	if err := e.settled(ctx); err != nil {
		return nil, err
	}
	// It ends in good order: what a killed one was about to acknowledge may be missing.
	running, err := e.published()
	if err != nil {
		return nil, err
	}
	if err := syscall.Kill(running.PID, syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := e.nothingLeft(ctx, patience, e.screen().cmd.Process.Pid); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(e.state, environmentName, historyFile))
}

// damage flips a bit of a copy, cuts a few bytes out of it, or cuts its end off. It returns how many objects may be
// lost: none of those that stand before the cut end, which only the history itself could say, so any number there.
func damage(random *rand.Rand, history []byte) (data []byte, how string, bearable int) {
	at, size := random.IntN(len(history)), len(history)
	switch random.IntN(10) {
	case 0:
		return slices.Clone(history[:at]), fmt.Sprintf("end cut off after %d of %d bytes", at, size), size
	case 1:
		n := min(1+random.IntN(64), size-at)
		return slices.Concat(history[:at], history[at+n:]), fmt.Sprintf("%d bytes cut out at %d of %d", n, at, size), 1
	}
	bit := random.IntN(8)
	data = slices.Clone(history)
	data[at] ^= 1 << bit
	return data, fmt.Sprintf("bit %d of byte %d of %d flipped", bit, at, size), 1
}

// restored is what a control plane has read from a history.
type restored struct {
	objects  map[string]proto.Message
	problems []string
}

// missing names the objects that the other one lacks or has otherwise.
func (r *restored) missing(other *restored) []string {
	var names []string
	for name, object := range r.objects {
		if !proto.Equal(object, other.objects[name]) {
			names = append(names, name)
		}
	}
	return names
}

// restore starts a control plane from a history and returns what it serves.
func restore(ctx context.Context, dir string, history []byte) (result *restored, err error) {
	file := filepath.Join(dir, historyFile)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, history, 0o600)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	apiKey := "00000000-0000-4000-8000-000000000007." + strings.Repeat("A", 32)
	w, err := workspace.At(dir, environmentName) // which names the piped whose applications the history holds
	if err != nil {
		return nil, err
	}
	server, err := controlplane.New(controlplane.Config{
		ProjectID: workspace.ProjectID, PipedID: w.PipedID(), PipedName: w.Name, PipedKey: strings.Repeat("K", 50),
		APIKey:      apiKey,
		Environment: &deckv1.Environment{Name: environmentName}, KeepFile: file,
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(running, listener) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	conn, err := client.Dial(listener.Addr().String(), apiKey)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return readAll(running, deckv1.NewDeckServiceClient(conn))
}

func readAll(ctx context.Context, deck deckv1.DeckServiceClient) (*restored, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return nil, err
	}
	result := &restored{objects: map[string]proto.Message{}}
	for {
		response, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		for _, event := range response.GetEvents() {
			switch kind := event.GetKind().(type) {
			case *deckv1.Event_Deployment:
				result.objects["deployment "+kind.Deployment.GetId()] = kind.Deployment
			case *deckv1.Event_Application:
				result.objects["application "+kind.Application.GetId()] = kind.Application
			case *deckv1.Event_Problem:
				result.problems = append(result.problems, kind.Problem.GetReason())
			case *deckv1.Event_Synced:
				return result, nil
			}
		}
	}
}
