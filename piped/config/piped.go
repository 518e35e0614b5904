// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"time"
)

// Kinds and version that a configuration file may name.
const (
	APIVersion      = "pipecd.dev/v1beta1"
	KindPiped       = "Piped"
	KindApplication = "Application"
)

// Piped is the spec of a piped configuration (kind Piped). Paths in it are as written: relative ones
// are relative to the working directory of piped.
type Piped struct {
	ProjectID string `json:"projectID" config:"required"`
	PipedID   string `json:"pipedID" config:"required"`
	// PipedKeyFile and PipedKeyData (base64) exclude each other; one is required.
	PipedKeyFile string `json:"pipedKeyFile,omitempty"`
	PipedKeyData string `json:"pipedKeyData,omitempty"`
	// Name is shown until the control plane answers with its own.
	Name string `json:"name,omitempty"`
	// APIAddress is the host:port of the control plane.
	APIAddress string `json:"apiAddress" config:"required"`
	WebAddress string `json:"webAddress,omitempty"`
	// SyncInterval is the polling interval of repositories that cannot be watched. Default 1m.
	SyncInterval Duration `json:"syncInterval,omitempty"`
	// AppConfigSyncInterval is the longest time between two scans of application configurations. Default 1m.
	AppConfigSyncInterval Duration `json:"appConfigSyncInterval,omitempty"`
	// AppSelector limits which unregistered applications are reported, by label.
	AppSelector      map[string]string `json:"appSelector,omitempty"`
	Git              Git               `json:"git,omitzero"`
	Repositories     []Repository      `json:"repositories,omitempty"`
	Plugins          []Plugin          `json:"plugins,omitempty"`
	Notifications    Notifications     `json:"notifications,omitzero"`
	SecretManagement *SecretManagement `json:"secretManagement,omitempty"`
	EventWatcher     EventWatcher      `json:"eventWatcher,omitzero"`
	PlanPreview      PlanPreview       `json:"planPreview,omitzero"`

	// Warnings holds what was read past: unknown keys, deprecated forms.
	Warnings Errors `json:"-"`
}

func (p *Piped) setDefaults() {
	p.SyncInterval = Duration(time.Minute)
	p.AppConfigSyncInterval = Duration(time.Minute)
}

// Git says how piped talks to Git servers.
type Git struct {
	// Username and Email sign the commits of piped; Username also logs in with Password.
	Username string `json:"username,omitempty"`
	Email    string `json:"email,omitempty"`
	// Password is base64, for https remotes.
	Password          string `json:"password,omitempty"`
	SSHConfigFilePath string `json:"sshConfigFilePath,omitempty"`
	Host              string `json:"host,omitempty"`
	HostName          string `json:"hostName,omitempty"`
	SSHKeyFile        string `json:"sshKeyFile,omitempty"`
	// SSHKeyData is base64.
	SSHKeyData string `json:"sshKeyData,omitempty"`
}

func (g *Git) setDefaults() {
	g.Username = "piped"
	g.Email = "piped@localhost"
	g.Host = "github.com"
}

// Repository is a Git repository that holds applications.
type Repository struct {
	RepoID string `json:"repoId" config:"required"`
	// Remote is an ssh, scp-like, git, http(s) or file URL, or a local path.
	Remote string `json:"remote" config:"required"`
	Branch string `json:"branch" config:"required"`
}

// Plugin is one plugin process.
type Plugin struct {
	// Name is the key that applications and deploy targets use.
	Name string `json:"name" config:"required"`
	// URL of the binary: file://, https:// or oci://.
	URL string `json:"url" config:"required"`
	// Port that the plugin listens on; 0 lets piped choose a free one.
	Port          int             `json:"port"`
	Config        json.RawMessage `json:"config,omitempty"`
	DeployTargets []DeployTarget  `json:"deployTargets,omitempty"`
}

// DeployTarget is a place that a plugin deploys to.
type DeployTarget struct {
	Name   string            `json:"name" config:"required"`
	Labels map[string]string `json:"labels,omitempty"`
	Config json.RawMessage   `json:"config,omitempty"`
}

// SecretManagement is the key that decrypts secrets in application configurations.
type SecretManagement struct {
	// Type KEY_PAIR is the only one that PipeCD v1 implements.
	Type   string  `json:"type" config:"required,oneof=KEY_PAIR|GCP_KMS"`
	Config KeyPair `json:"config,omitzero"`
}

// KeyPair is an RSA key pair in PEM, each half as a file or as base64 data. The KMS keys are read and not used.
type KeyPair struct {
	PrivateKeyFile            string `json:"privateKeyFile,omitempty"`
	PrivateKeyData            string `json:"privateKeyData,omitempty"`
	PublicKeyFile             string `json:"publicKeyFile,omitempty"`
	PublicKeyData             string `json:"publicKeyData,omitempty"`
	KeyName                   string `json:"keyName,omitempty"`
	DecryptServiceAccountFile string `json:"decryptServiceAccountFile,omitempty"`
	EncryptServiceAccountFile string `json:"encryptServiceAccountFile,omitempty"`
}

// EventWatcher says where events change files. CheckInterval defaults to 1m.
type EventWatcher struct {
	CheckInterval Duration                 `json:"checkInterval,omitempty"`
	GitRepos      []EventWatcherRepository `json:"gitRepos,omitempty"`
}

func (e *EventWatcher) setDefaults() { e.CheckInterval = Duration(time.Minute) }

// EventWatcherRepository narrows the event watcher for one repository.
type EventWatcherRepository struct {
	RepoID        string   `json:"repoId" config:"required"`
	CommitMessage string   `json:"commitMessage,omitempty"`
	Includes      []string `json:"includes,omitempty"`
	Excludes      []string `json:"excludes,omitempty"`
}

// PlanPreview bounds the plan preview workers. Defaults: 3 workers, queue of 10, 5s, 5m.
type PlanPreview struct {
	WorkerNum              int      `json:"workerNum,omitempty"`
	CommandQueueBufferSize int      `json:"commandQueueBufferSize,omitempty"`
	CommandCheckInterval   Duration `json:"commandCheckInterval,omitempty"`
	CommandHandleTimeout   Duration `json:"commandHandleTimeout,omitempty"`
}

func (p *PlanPreview) setDefaults() {
	p.WorkerNum = 3
	p.CommandQueueBufferSize = 10
	p.CommandCheckInterval = Duration(5 * time.Second)
	p.CommandHandleTimeout = Duration(5 * time.Minute)
}

// FindRepository returns the repository with the id.
func (p *Piped) FindRepository(id string) (Repository, bool) {
	for _, repository := range p.Repositories {
		if repository.RepoID == id {
			return repository, true
		}
	}
	return Repository{}, false
}
