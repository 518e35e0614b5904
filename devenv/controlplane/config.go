// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Config says who may call the control plane and what it is part of.
type Config struct {
	// ProjectID is the one project; PipedID and PipedName are its first piped. All are needed.
	ProjectID, PipedID, PipedName string
	// PipedKey and APIKey are plain secrets; only their hashes are kept. The API key has the form
	// "<id>.<32 random characters>".
	PipedKey, APIKey string
	// Environment is shown to user interfaces; nil until SetEnvironment.
	Environment *deckv1.Environment
	// Shutdown is called, by a goroutine that Run waits for, when a user ends the environment; the
	// answer has been sent by then. It must not wait for Run to return. Nil: nothing happens.
	Shutdown func(*deckv1.ShutdownRequest)
	// PipedConnected is called when the piped with PipedID has introduced itself, with its version; it must
	// not block. Nil: nothing happens.
	PipedConnected func(version string)
	// EventHandled gets each event of the event watcher that a piped has reported the result of; the event belongs to
	// the receiver. It must not block. Nil: nothing happens.
	EventHandled func(*model.Event)
	// Images is served to plugins as the image API; nil: the service is not there.
	Images imagev1.ImageServiceServer
	// Open makes a deployed application reachable from this machine. Nil: nothing can be reached.
	Open deckapi.Opener
	// Selects reports by its configuration file, relative to its repository, whether an application that a piped finds
	// in Git is registered. Nil: all are.
	Selects func(repository, configFile string) bool
	// PodLog reads the logs of pods. Nil: none can be read.
	PodLog deckapi.PodLogReader
	// KeepFile is the file in which the state is kept for the next control plane; empty for nowhere. While it cannot be
	// read or written, calls that change something are refused as Unavailable, and the environment is degraded. It is
	// no one else's.
	KeepFile string
	// Flags follow the commands in next steps, so that they find this environment; they begin with a space. Empty: the
	// commands find it without.
	Flags string
	// Logger gets refused and failed calls; nil logs nothing.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Limits bounds what is kept; the zero value means the defaults.
	Limits store.Limits
}

func (c Config) validate() error {
	var missing []error
	for _, f := range []struct{ name, value string }{
		{"ProjectID", c.ProjectID}, {"PipedID", c.PipedID}, {"PipedName", c.PipedName}, {"PipedKey", c.PipedKey},
		{"APIKey", c.APIKey},
	} {
		if f.value == "" {
			missing = append(missing, fmt.Errorf("%s is empty", f.name))
		}
	}
	return errors.Join(missing...)
}
