// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/system/clock"
)

// defaultAddress is where a flag without an address listens: any free port of this machine.
const defaultAddress = "127.0.0.1:0"

// Flags are the flags of a command that can be watched by others.
type Flags struct {
	web, ssh string
	// keys is the file of the keys that may log in.
	keys string
}

// Bind adds the flags to a command.
func (f *Flags) Bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.web, "serve-web", "", "serve a page to watch, read-only; --serve-web=`HOST:PORT` lets other "+
		"machines watch, over TLS (default with no address: a free port of this machine)")
	flags.Lookup("serve-web").NoOptDefVal = defaultAddress
	flags.StringVar(&f.ssh, "serve-ssh", "", "serve this UI over SSH, read-only, to those who have the printed "+
		"one-time password; --serve-ssh=`HOST:PORT` lets other machines watch (default with no address: a free port "+
		"of this machine)")
	flags.Lookup("serve-ssh").NoOptDefVal = defaultAddress
	flags.StringVar(&f.keys, "ssh-authorized-keys", "", "`FILE` with public keys that may watch with --serve-ssh, too "+
		"(default none)")
	checked := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(given(cmd.Flags(), "serve-web"), given(cmd.Flags(), "serve-ssh")); err != nil {
			return err
		}
		if err := f.apart(args); err != nil || checked == nil {
			return err
		}
		return checked(cmd, args)
	}
}

// given refuses a flag whose address is empty, such as that of a variable without a value: nothing would be served, and
// nothing would say so.
func given(flags *pflag.FlagSet, name string) error {
	if f := flags.Lookup(name); !f.Changed || f.Value.String() != "" {
		return nil
	}
	return exit.Usage(fmt.Errorf("--%s= has no address", name), "name one, such as --"+name+
		"=0.0.0.0:8080, or none: --"+name)
}

// apart refuses an address after a blank: it is an argument then, and the message about that argument would not say
// what is wrong.
func (f *Flags) apart(args []string) error {
	for _, flag := range []struct{ name, given string }{{"--serve-web", f.web}, {"--serve-ssh", f.ssh}} {
		if flag.given != defaultAddress {
			continue
		}
		for _, arg := range args {
			if _, err := os.Stat(arg); err == nil || !isAddress(arg) {
				continue
			}
			return exit.Usage(fmt.Errorf("%s takes its address after =, not after a blank", flag.name),
				"write "+flag.name+"="+arg)
		}
	}
	return nil
}

func isAddress(arg string) bool {
	_, port, err := net.SplitHostPort(arg)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// Asked reports whether others may watch.
func (f *Flags) Asked() bool { return f.web != "" || f.ssh != "" }

// Subject is what others watch.
type Subject struct {
	// Name of the environment. Dir is its directory; empty for what has none. Flags are those that a command needs to
	// find it, each after a space.
	Name, Dir, Flags string
	// Mode is one of package page.
	Mode string
	// Connect returns a client with its own connection, which the caller closes. It may block.
	Connect func(ctx context.Context) (client deckv1.DeckServiceClient, end func(), err error)
	// Announce returns a client by which the environment learns what is served; the caller closes its connection. Nil
	// for what is no environment.
	Announce func(ctx context.Context) (client deckv1.SharingServiceClient, end func(), err error)
	// Gone reports whether an error of Connect or Announce says that there is nothing left to connect to; nil for
	// never.
	Gone func(err error) bool
	// Film is a recorded session that is played, Recorded when it began and Missing why it is not complete.
	Film     *player.Player
	Recorded time.Time
	Missing  string
}

// Start serves what the flags ask for until Close, or the end of ctx; nil when they ask for nothing.
func (f *Flags) Start(ctx context.Context, subject Subject) (*Share, error) {
	if f.keys != "" && f.ssh == "" {
		return nil, exit.Usage(errors.New("--ssh-authorized-keys is for --serve-ssh"), "add --serve-ssh")
	}
	if !f.Asked() {
		return nil, nil
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Share{stop: stop, news: newNews(ctx.Done())}
	err := s.serve(ctx, f, subject)
	if err != nil {
		s.Close()
		return nil, err
	}
	if subject.Announce != nil {
		s.serving.Go(func() { s.announce(ctx, subject, clock.System{}) })
	}
	return s, nil
}

// serve opens each address that the flags name.
func (s *Share) serve(ctx context.Context, f *Flags, subject Subject) error {
	if f.web != "" {
		at, err := listen("--serve-web", f.web)
		if err == nil {
			err = s.serveWeb(ctx, at, subject)
		}
		if err != nil {
			return err
		}
		s.serving.Go(func() { s.countPage(ctx) })
	}
	if f.ssh == "" {
		return nil
	}
	at, err := listen("--serve-ssh", f.ssh)
	if err != nil {
		return err
	}
	return s.serveSSH(ctx, at, f, subject)
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
		return nil, exit.Usage(fmt.Errorf("%s=%s: %w", flag, given, err),
			"choose another address, or a free port: "+flag)
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
