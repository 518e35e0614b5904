// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

var (
	// oldestGit knows init --initial-branch, which the guides use.
	oldestGit = version{2, 28}
	// oldestGo fetches the toolchain that a go.mod asks for.
	oldestGo = version{1, 21}
)

func (d *Doctor) git(ctx context.Context) Check {
	out, err := d.Run(ctx, "git", "--version")
	c := Check{State: Warn, Found: "it does not run", Why: "pipedeck needs none, but your commits do", Fix: installGit}
	if err != nil {
		return c
	}
	line := strings.TrimSpace(string(out))
	if is, readable := parseVersion(line); readable && is.before(oldestGit) {
		c.Found, c.Why = line, fmt.Sprintf("the guides use what Git has from %s on", oldestGit)
		return c
	}
	return ok("%s", line)
}

func (d *Doctor) goToolchain(ctx context.Context) Check {
	c := Check{
		State: Warn, Found: "it does not run",
		Why: "it compiles the embedded Kubernetes, samples and plugins that you change",
		Fix: installGo,
	}
	if d.Embedded != nil {
		if found, err := d.Embedded(); err == nil && found.Compiled() {
			c.Why = "it compiles the images and plugins that you change"
		}
	}
	out, err := d.Run(ctx, "go", "env", "GOVERSION")
	if err != nil {
		return c
	}
	line := strings.TrimSpace(string(out))
	if is, readable := parseVersion(line); readable && is.before(oldestGo) {
		c.Found, c.Why = line, fmt.Sprintf("from %s on it fetches the toolchain that is asked for", oldestGo)
		return c
	}
	return ok("%s", line)
}

// proxy looks for a proxy that programs would send requests for this machine to. Go programs do
// not; curl, browsers of the command line and scripts do, and kind gives the variables to its nodes.
func (d *Doctor) proxy(context.Context) Check {
	either := func(name string) string {
		if v := d.Getenv(strings.ToLower(name)); v != "" {
			return v
		}
		return d.Getenv(name)
	}
	var set []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		if either(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return ok("none is set")
	}
	if except := either("NO_PROXY"); covers(except, "127.0.0.1") && covers(except, "localhost") {
		return ok("%s, not for this machine", strings.Join(set, ", "))
	}
	// The value may hold a password.
	return Check{
		State: Warn, Found: strings.Join(set, ", ") + " without NO_PROXY for 127.0.0.1 and localhost",
		Why: "curl and others would ask the proxy for addresses of this machine",
		Fix: `export NO_PROXY="$NO_PROXY,127.0.0.1,localhost"`,
	}
}

// covers reports whether a NO_PROXY list excepts a host, by the rules that Go and curl share.
func covers(except, host string) bool {
	for part := range strings.SplitSeq(except, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || part == host {
			return true
		}
		network, err := netip.ParsePrefix(part)
		address, addressErr := netip.ParseAddr(host)
		if err == nil && addressErr == nil && network.Contains(address) {
			return true
		}
	}
	return false
}

// terminal says what the UI would have to do without.
func (d *Doctor) terminal(context.Context) Check {
	name := d.Getenv("TERM")
	switch {
	case name == "" || name == "dumb":
		return Check{State: Warn, Found: fmt.Sprintf("TERM is %q", name), Why: "the UI cannot place a cursor",
			Fix: "use another terminal, or --output plain"}
	case d.Getenv("NO_COLOR") != "":
		return ok("%s, without colours: NO_COLOR is set", name)
	}
	return ok("%s", name)
}
