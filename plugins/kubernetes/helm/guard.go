// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// guard refuses connections to this machine, its network and link-local services such as the metadata of a cloud,
// unless the operator allows them: the addresses come from the content of repositories. It looks at the address that is
// connected to, so that no name, redirect or change of a name leads around it.
type guard struct {
	// places are allowed as they are written in a URL: "host:port", or "host" for every port.
	places map[string]bool
	// networks are allowed whatever name leads there.
	networks []netip.Prefix
	// scope distinguishes charts that only one request may get from those that all requests may get.
	scope  string
	dialer net.Dialer
	// offline refuses all connections.
	offline bool
}

// CheckAllowed reports what is wrong with an entry of allowed addresses: a host, host:port, an IP address or a network
// such as 10.0.0.0/8.
func CheckAllowed(entry string) error {
	return (&guard{places: map[string]bool{}}).allow(entry)
}

// newGuard allows what an operator names: the configured repositories and registries, and the addresses of both lists.
func newGuard(sources Sources, more []string) (*guard, error) {
	g := &guard{places: map[string]bool{}, scope: strings.Join(more, " "), dialer: net.Dialer{Timeout: connectTimeout},
		offline: sources.Offline}
	for _, r := range sources.Repositories {
		if u, err := url.Parse(r.Address); err == nil {
			g.places[place(u)] = true
		}
	}
	for _, r := range sources.Registries {
		host, _, _ := strings.Cut(strings.TrimPrefix(r.Address, "oci://"), "/")
		scheme := "https"
		if loopback(host) {
			scheme = "http"
		}
		g.places[place(&url.URL{Scheme: scheme, Host: host})] = true
	}
	for _, list := range [][]string{sources.AllowedAddresses, more} {
		for _, entry := range list {
			if err := g.allow(entry); err != nil {
				return nil, fmt.Errorf("allowedChartAddresses: %w", err)
			}
		}
	}
	return g, nil
}

func (g *guard) allow(entry string) error {
	if network, err := netip.ParsePrefix(entry); err == nil {
		g.networks = append(g.networks, network.Masked())
		return nil
	}
	if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		g.networks = append(g.networks, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
		return nil
	}
	if entry == "" || strings.ContainsAny(entry, "/@?# ") {
		return fmt.Errorf("%q is not a host, host:port, IP address or network such as 10.0.0.0/8", entry)
	}
	g.places[strings.ToLower(entry)] = true
	return nil
}

// place is "host:port" of a URL.
func place(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

func (g *guard) allowsPlace(at string) bool {
	host, _, err := net.SplitHostPort(at)
	return err == nil && (g.places[strings.ToLower(at)] || g.places[strings.ToLower(host)])
}

// transport connects directly where the environment names no proxy. Through a proxy the name is looked up here, too,
// since the proxy may reach more than this machine does.
type transport struct {
	guard         *guard
	proxyOf       func(*http.Request) (*url.URL, error)
	direct, proxy *http.Transport
}

var _ http.RoundTripper = (*transport)(nil)

func (g *guard) transport(insecure bool) *transport {
	direct := &http.Transport{
		DialContext:         g.dial,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		DisableKeepAlives:   true, // nothing is left behind
	}
	if insecure {
		direct.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // what the operator has asked for
	}
	t := &transport{guard: g, proxyOf: http.ProxyFromEnvironment, direct: direct, proxy: direct.Clone()}
	t.proxy.Proxy = func(r *http.Request) (*url.URL, error) { return t.proxyOf(r) }
	t.proxy.DialContext = g.dialer.DialContext // the proxy itself may be in this network
	return t
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.guard.offline {
		return nil, errors.New("nothing is fetched from the network here")
	}
	proxy, err := t.proxyOf(request)
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
		return t.direct.RoundTrip(request)
	}
	if err := t.guard.checkName(request.Context(), request.URL); err != nil {
		return nil, err
	}
	return t.proxy.RoundTrip(request)
}

// checkName looks a name up that a proxy would connect to. What this machine cannot look up, only the proxy knows.
func (g *guard) checkName(ctx context.Context, u *url.URL) error {
	if g.allowsPlace(place(u)) {
		return nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil //nolint:nilerr // the proxy answers for the name
	}
	for _, ip := range found {
		if err := g.checkIP(ip, place(u)); err != nil {
			return err
		}
	}
	return nil
}

// dial connects to what a URL names; Control sees the address after the name is looked up.
func (g *guard) dial(ctx context.Context, network, at string) (net.Conn, error) {
	if g.allowsPlace(at) {
		return g.dialer.DialContext(ctx, network, at)
	}
	dialer := g.dialer
	dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return errors.New("the address cannot be read, so it is not connected to")
		}
		return g.checkIP(to.Addr(), at)
	}
	return dialer.DialContext(ctx, network, at)
}

// checkIP refuses an address that is not of the public internet.
func (g *guard) checkIP(ip netip.Addr, at string) error {
	ip = ip.WithZone("").Unmap()
	for _, network := range g.networks {
		if network.Contains(ip) {
			return nil
		}
	}
	if isPublic(ip) {
		return nil
	}
	return &addressError{at: at, ip: ip}
}

// special are the ranges beyond those that netip knows which are not of the public internet (IANA's registries), and
// which lead to an IPv4 address that is not looked at.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func isPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false // also loopback, link-local, multicast and unspecified
	}
	for _, network := range special {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

// addressError is a connection that was refused before it was made.
type addressError struct {
	// at is "host:port" as it was named, ip what that leads to.
	at string
	ip netip.Addr
}

func (e *addressError) Error() string {
	name, _, _ := net.SplitHostPort(e.at)
	if name != e.ip.String() {
		name += " (" + e.ip.String() + ")"
	}
	return fmt.Sprintf("%s is an address of this machine or of its network, and no address of the public internet: "+
		"if charts may come from there, add %q to allowedChartAddresses in the config of the plugin or of the "+
		"deploy target", name, e.at)
}
