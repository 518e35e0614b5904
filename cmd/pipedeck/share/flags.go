// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/player"
)

// defaultAddress is where a flag without an address listens: any free port, for this machine only.
const defaultAddress = "127.0.0.1:0"

// Flags are the flags of a command that can be watched by others.
type Flags struct {
	web string
}

// Bind adds the flags to a command.
func (f *Flags) Bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.web, "serve-web", "", "serve a page to watch, read-only; --serve-web=`HOST:PORT` lets other "+
		"machines watch, over TLS (default with no address: a free port of this machine)")
	flags.Lookup("serve-web").NoOptDefVal = defaultAddress
}

// Subject is what others watch.
type Subject struct {
	// Name of the environment. Dir is its directory; empty for what has none.
	Name, Dir string
	// Mode is one of package page.
	Mode string
	// Connect returns a client with a connection of its own, which the caller closes. It may block.
	Connect func(ctx context.Context) (client deckv1.DeckServiceClient, end func(), err error)
	// Gone reports whether an error of Connect says that there is nothing left to connect to; nil for never.
	Gone func(err error) bool
	// Film is a recorded session that is played, Recorded when it began and Missing why it is not complete.
	Film     *player.Player
	Recorded time.Time
	Missing  string
}

// Start serves what the flags ask for until Close, or the end of ctx; nil when they ask for nothing.
func (f *Flags) Start(ctx context.Context, subject Subject) (*Share, error) {
	if f.web == "" {
		return nil, nil
	}
	s := &Share{}
	ctx, s.stop = context.WithCancel(ctx)
	web, err := listen("--serve-web", f.web)
	if err == nil {
		err = s.serveWeb(ctx, web, subject)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// address is an open one, as the user has named it.
type address struct {
	net.Listener
	// host is that of the flag; port the one that was opened.
	host, port string
	// public: other machines can reach it.
	public bool
}

// listen opens the address that a flag names.
func listen(flag, given string) (*address, error) {
	host, _, err := net.SplitHostPort(given)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s=%s: %w", flag, given, err), "name an address such as "+flag+
			"=0.0.0.0:8080, or none: "+flag)
	}
	listener, err := net.Listen("tcp", given)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s=%s: %w", flag, given, err), "choose another address, or a free port: "+flag)
	}
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s=%s: the address has no port", flag, given), listener.Close())
	}
	return &address{listener, host, fmt.Sprint(tcp.Port), !tcp.IP.IsLoopback()}, nil
}

// reachable is the host that watchers name: that of the flag, or the name of this machine where the flag names all of
// its addresses.
func (a *address) reachable(machine string) string {
	if ip := net.ParseIP(a.host); a.host == "" || ip != nil && ip.IsUnspecified() {
		return machine
	}
	return a.host
}
