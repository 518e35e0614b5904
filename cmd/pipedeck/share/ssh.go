// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/connlimit"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/remote"
)

// sshBounds bound what watchers occupy; a connection that has logged in is trusted. There are more connections than
// UIs, so that one too many reads why it is refused.
var sshBounds = connlimit.Bounds{Connections: 2 * remote.MaxUIs, Untrusted: 20, Time: 90 * time.Second,
	Bytes: 256 << 10}

// terminals are the UIs that are served over SSH.
type terminals struct {
	*remote.Server
	host, port string
	public     bool
	// keys is how many may log in.
	keys int
}

// serveSSH serves the UI at an address, which it closes.
func (s *Share) serveSSH(ctx context.Context, at *address, f *Flags, subject Subject) error {
	keys, err := f.authorized(ctx)
	if err != nil {
		return errors.Join(err, at.Close())
	}
	key, err := openHostKey(subject.Dir)
	if err != nil {
		return errors.Join(err, at.Close())
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "localhost" // it is only shown
	}
	o := remote.Options{
		HostKey: key.signer, Keys: keys, Name: subject.shown(), Version: version.Build(), Clock: clock.System{},
		News: s.say,
		Connect: func(ctx context.Context) (deckv1.DeckServiceClient, func(), error) {
			deck, end, err := subject.Connect(ctx)
			if err == nil {
				if err := key.keep(); err != nil { // the environment has its directory now
					s.say(fmt.Sprintf("the host key is not kept, and the next run has another one: %v", err))
				}
			}
			return deck, end, err
		},
	}
	if subject.Film != nil {
		o.Playback = Playback{subject.Film, subject.Missing}
	}
	s.ssh = &terminals{remote.New(o), at.reachable(machine), at.port, at.public, len(keys)}
	s.serving.Go(func() { s.ssh.Run(ctx, connlimit.New(at.Listener, sshBounds)) })
	return nil
}

// address is how to watch, with the present password.
func (t *terminals) address() Address {
	a := Address{Part: "ssh", Name: "Terminal", Text: fmt.Sprintf("ssh -p %s watch@%s", t.port, t.host),
		Code: "ssh://watch@" + net.JoinHostPort(t.host, t.port), Local: !t.public}
	login := "one-time password: " + t.Password()
	switch t.keys {
	case 0:
	case 1:
		login += ", or the listed key"
	default:
		login += fmt.Sprintf(", or one of %d listed keys", t.keys)
	}
	a.Notes = []string{login, "host key: " + t.Fingerprint()}
	if t.public {
		a.Notes = append(a.Notes, "warning: everyone who can reach this machine and has the password or a listed key "+
			"can watch, until this command ends")
	}
	return a
}

// shown is the name in the header of the UI.
func (s Subject) shown() string {
	if s.Film == nil {
		return s.Name
	}
	return s.Name + ", recorded " + s.Recorded.Local().Format("2006-01-02 15:04")
}

// Playback is a player for a terminal UI.
type Playback struct {
	*player.Player
	// Missing is why the session is not complete; empty when it is.
	Missing string
}

// Position implements app.Playback.
func (p Playback) Position() app.PlaybackPosition {
	at := p.Player.Position()
	return app.PlaybackPosition{At: at.At, Length: at.Length, Playing: at.Playing, Speed: at.Speed, Missing: p.Missing}
}

// hostKey is how the server proves who it is.
type hostKey struct {
	signer ssh.Signer
	// save writes it to the environment's directory; nil when it is there, or has no place.
	save func() error
	once sync.Once
}

// keep writes the key where the next run finds it, once.
func (k *hostKey) keep() (err error) {
	if k.save != nil {
		k.once.Do(func() { err = k.save() })
	}
	return err
}
