// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// RepositoryGit is how to log in to one repository. PipeCD v1 has one way for all of them.
type RepositoryGit struct {
	// Username logs in with the password. Default: that of spec.git.
	Username string `json:"username,omitempty"`
	// Password is base64, for https remotes; a token counts as one. It excludes an ssh key.
	Password string `json:"password,omitempty"`
	// SSHKeyFile is the file with the private key. It excludes SSHKeyData.
	SSHKeyFile string `json:"sshKeyFile,omitempty"`
	// SSHKeyData is the private key in base64.
	SSHKeyData string `json:"sshKeyData,omitempty"`
	// KnownHostsFile holds the keys of ssh servers. Default: that of spec.git.
	KnownHostsFile string `json:"knownHostsFile,omitempty"`
}

// GitOf is how to log in to a repository: spec.git, but for what the repository sets itself. Of password and keys
// either all are its own or none.
func (p *Piped) GitOf(repository Repository) Git {
	g, own := p.Git, repository.Git
	if own == nil {
		return g
	}
	if own.Password != "" || own.SSHKeyFile != "" || own.SSHKeyData != "" {
		g.Password, g.SSHKeyFile, g.SSHKeyData = own.Password, own.SSHKeyFile, own.SSHKeyData
	}
	if own.Username != "" {
		g.Username = own.Username
	}
	if own.KnownHostsFile != "" {
		g.KnownHostsFile = own.KnownHostsFile
	}
	return g
}

// checkGitLogin checks one way to log in.
func checkGitLogin(d *decoder, field, password, sshKeyFile, sshKeyData string) {
	if sshKeyFile != "" || sshKeyData != "" {
		d.atMostOne(field, "sshKeyFile", sshKeyFile, "sshKeyData", sshKeyData)
		if password != "" {
			d.fieldf(field+".password", "cannot be used together with an ssh key")
		}
	}
	d.base64(field+".sshKeyData", sshKeyData)
	d.base64(field+".password", password)
}
