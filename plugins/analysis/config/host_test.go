// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAHostIsComparedWithTheDefaultPortFilledIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host    Host
		address string
		sent    bool
	}{
		{"shop.example.com", "https://shop.example.com/a", true},
		{"Shop.example.com", "https://shop.EXAMPLE.com", true},
		{"shop.example.com", "https://shop.example.com:443/", true},
		{"shop.example.com:443", "https://shop.example.com/", true},
		{"shop.example.com:443", "https://shop.example.com:443/", true},
		{"shop.example.com:80", "http://shop.example.com/", true},
		{"127.0.0.1:8080", "http://127.0.0.1:8080/", true},
		{"127.0.0.1:8080", "https://127.0.0.1:8080/", true},
		{"[::1]", "https://[::1]/", true},
		{"[::1]:8080", "http://[::1]:8080/", true},
		{"münchen.example", "https://münchen.example/", true},
		{"shop.example.com", "http://shop.example.com/", false},
		{"shop.example.com", "http://shop.example.com:443/", false},
		{"shop.example.com", "https://shop.example.com:8443/", false},
		{"shop.example.com:443", "http://shop.example.com/", false},
		{"shop.example.com:8443", "https://shop.example.com/", false},
		{"example.com", "https://shop.example.com/", false},
		{"shop.example.com", "https://shop.example.com@other.example/", false},
	} {
		address, err := url.Parse(c.address)
		require.NoError(t, err)
		header := HTTPHeader{Hosts: []Host{"other.test", c.host}}
		require.Equal(t, c.sent, header.For(address), "%s to %s", c.host, c.address)
	}
}

func TestWhatCannotBeAHostIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	config := func(host Host) *Config {
		return &Config{HTTPHeaders: []HTTPHeader{{Name: "a", Key: "X-Key", ValueFile: "f", Hosts: []Host{"b", host}}}}
	}
	const want = ": want HOST or HOST:PORT, such as shop.example.com or 127.0.0.1:8080, with a port up to 65535"
	for _, host := range []Host{"", "https://user:hidden@shop.example.com", "shop.example.com/", "shop.example.com:",
		"shop.example.com:https", "shop.example.com:0", "a:65536", "a:70000", "a:99999",
		"a:100000", "a:080", "*.example.com", "a,b", "a b", "::1", "user@shop.example.com"} {
		require.EqualError(t, config(host).Validate(), "httpHeaders[0].hosts[1] is not a host"+want, host)
	}
	for _, host := range []Host{"a", "a:65535", "a:9999", "a:59999", "[::1]:65529", "10.0.0.1:1",
		"shop_1.example.com."} {
		require.NoError(t, config(host).Validate(), host)
	}
}
