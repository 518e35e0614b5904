// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// maxPasswords bounds the passwords that a connection may try.
	maxPasswords = 3
	// maxTries bounds them together with the keys: clients offer every key that they have.
	maxTries = 20
)

var (
	errUnknownKey    = errors.New("the key is not listed")
	errWrongPassword = errors.New("the password is wrong")
	errGuessed       = errors.New("too many passwords")
)

// configuration is how a connection logs in. The user's name does not matter: everyone sees the same.
func (c *connection) configuration(ctx context.Context) *ssh.ServerConfig {
	passwords := 0
	config := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-pipedeck",
		MaxAuthTries:  maxTries,
		BannerCallback: func(ssh.ConnMetadata) string {
			_ = c.conn.SetDeadline(time.Now().Add(loginTime)) // keys are exchanged; people type
			return ""
		},
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			for _, listed := range c.server.options.Keys {
				if bytes.Equal(listed.Marshal(), key.Marshal()) {
					return nil, nil
				}
			}
			return nil, errUnknownKey
		},
		PasswordCallback: func(who ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
			if passwords++; passwords > maxPasswords {
				_ = c.conn.Close()
				return nil, errGuessed
			}
			if !c.server.guesses.wait(ctx, c.address) {
				return nil, ctx.Err()
			}
			right := c.server.password.take(string(given))
			c.server.guesses.count(c.address, right)
			if !right {
				return nil, errWrongPassword
			}
			c.user, c.usedPassword = who.User(), true
			return nil, nil
		},
	}
	config.AddHostKey(c.server.options.HostKey)
	return config
}
