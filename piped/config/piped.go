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
	// ProjectID is the id of the project at the control plane.
	ProjectID string `json:"projectID" config:"required"`
	// PipedID is the id that the control plane gave this piped when it was registered.
	PipedID string `json:"pipedID" config:"required"`
	// PipedKeyFile is the file with the key that the control plane gave this piped. Exactly one of
	// PipedKeyFile and PipedKeyData is required.
	PipedKeyFile string `json:"pipedKeyFile,omitempty"`
	// PipedKeyData is the key in base64, in place of PipedKeyFile.
	PipedKeyData string `json:"pipedKeyData,omitempty"`
	// Name is shown until the control plane answers with its own.
	Name string `json:"name,omitempty"`
	// APIAddress is the host:port of the control plane.
	APIAddress string `json:"apiAddress" config:"required"`
	// WebAddress is the URL of the control plane's web page, for links in notifications. Default: what
	// the control plane says.
	WebAddress string `json:"webAddress,omitempty"`
	// SyncInterval is the polling interval of repositories that cannot be watched. Default 1m.
	SyncInterval Duration `json:"syncInterval,omitempty" config:"positive"`
	// AppConfigSyncInterval is the longest time between two scans of application configurations. Default 1m.
	AppConfigSyncInterval Duration `json:"appConfigSyncInterval,omitempty" config:"positive"`
	// AppSelector limits which unregistered applications are reported: those that have all these labels.
	AppSelector map[string]string `json:"appSelector,omitempty"`
	// OnRemoved says what becomes of applications whose configuration is deleted in Git: keep, orphan or prune. Default
	// keep. An addition of ours.
	OnRemoved Removal `json:"onRemoved,omitempty" config:"oneof=keep|orphan|prune"`
	// Git says how piped talks to Git servers.
	Git Git `json:"git,omitzero"`
	// Repositories are the Git repositories that hold applications.
	Repositories []Repository `json:"repositories,omitempty"`
	// Plugins are the plugin processes that piped runs.
	Plugins []Plugin `json:"plugins,omitempty"`
	// PluginIndex is the index that plugins are looked up in whose url is a name: a path, file:// or https://. An
	// addition of ours.
	PluginIndex string `json:"pluginIndex,omitempty"`
	// Notifications configure who gets which events.
	Notifications Notifications `json:"notifications,omitzero"`
	// SecretManagement is the key that decrypts secrets of applications.
	SecretManagement *SecretManagement `json:"secretManagement,omitempty"`
	// EventWatcher says where events change files.
	EventWatcher EventWatcher `json:"eventWatcher,omitzero"`
	// PlanPreview bounds the work on plan previews.
	PlanPreview PlanPreview `json:"planPreview,omitzero"`
	// LiveState bounds the looks at live states. An addition of ours.
	LiveState LiveState `json:"liveState,omitzero"`

	// Warnings holds what was ignored: unknown keys, deprecated forms.
	Warnings Errors `json:"-"`

	report *Report `json:"-"`
}

// Report returns the report of the file, which knows the places of what plugins own; nil when the configuration does
// not come from [ParsePiped].
func (p *Piped) Report() *Report { return p.report }

func (p *Piped) setDefaults() {
	p.SyncInterval = Duration(time.Minute)
	p.AppConfigSyncInterval = Duration(time.Minute)
}

func (p *Piped) v0Keys() map[string]string {
	return map[string]string{
		"platformProviders": "deployTargets of plugins", "cloudProviders": "deployTargets of plugins",
		"analysisProviders": "config of the plugin analysis",
		"chartRepositories": "config of the plugin kubernetes", "chartRegistries": "config of the plugin kubernetes",
	}
}

// Git says how piped talks to Git servers.
type Git struct {
	// Username signs the commits of piped, and logs in with the password. Default piped.
	Username string `json:"username,omitempty"`
	// Email signs the commits of piped. Default piped@localhost.
	Email string `json:"email,omitempty"`
	// Password is base64, for https remotes. It excludes an ssh key.
	Password string `json:"password,omitempty"`
	// SSHConfigFilePath is the ssh configuration. Default: the user's own.
	SSHConfigFilePath string `json:"sshConfigFilePath,omitempty"`
	// KnownHostsFile holds the keys of ssh servers, as ssh writes it. Default: those of ssh.
	KnownHostsFile string `json:"knownHostsFile,omitempty"`
	// Host is the host that the ssh key is for. Default github.com.
	Host string `json:"host,omitempty"`
	// HostName is the real name of the host, when that is an alias. Default: the host.
	HostName string `json:"hostName,omitempty"`
	// SSHKeyFile is the file with the private key. It excludes SSHKeyData.
	SSHKeyFile string `json:"sshKeyFile,omitempty"`
	// SSHKeyData is the private key in base64.
	SSHKeyData string `json:"sshKeyData,omitempty"`
}

func (g *Git) setDefaults() {
	g.Username = "piped"
	g.Email = "piped@localhost"
	g.Host = "github.com"
}

// Repository is a Git repository that holds applications.
type Repository struct {
	// RepoID is the name that the control plane and applications use.
	RepoID string `json:"repoId" config:"required"`
	// Remote is an ssh, scp-like, git, http(s) or file URL, or a local path.
	Remote string `json:"remote" config:"required"`
	// Branch is the branch that is deployed.
	Branch string `json:"branch" config:"required"`
	// Git is how to log in to this repository, where that differs from spec.git.
	Git *RepositoryGit `json:"git,omitempty"`
}

// Plugin is one plugin process.
type Plugin struct {
	// Name is the key that applications and deploy targets use.
	Name string `json:"name" config:"required"`
	// URL of the binary: file://, https:// or oci://; or a name in the pluginIndex, such as canary@v1.2.0.
	URL string `json:"url" config:"required"`
	// SHA256 is the digest that the binary must have, in hexadecimal. An addition of ours.
	SHA256 string `json:"sha256,omitempty"`
	// Signature is who must have signed the binary. An addition of ours.
	Signature *PluginSignature `json:"signature,omitempty"`
	// Port that the plugin listens on; 0 lets piped choose a free one.
	Port int `json:"port"`
	// Config is given to the plugin; the plugin says what is in it.
	Config json.RawMessage `json:"config,omitempty"`
	// DeployTargets are the places that the plugin deploys to.
	DeployTargets []DeployTarget `json:"deployTargets,omitempty"`
	// Stages are those that go to this plugin where other plugins offer them, too. An addition of ours.
	Stages []string `json:"stages,omitempty"`
	// Limits are what the process may use at most. An addition of ours.
	Limits PluginLimits `json:"limits,omitzero"`
}

// Policies for a plugin that is not signed as its configuration requires.
const (
	SignatureRequire = "require"
	SignatureWarn    = "warn"
	SignatureOff     = "off"
)

// PluginSignature says who must have signed the binary of a plugin, with minisign or for Sigstore with a key.
type PluginSignature struct {
	// PublicKey is the key of the signer as minisign writes it, such as RWQf…, or in PEM for bundles of Sigstore.
	PublicKey string `json:"publicKey,omitempty"`
	// URL of the signature: file:// or https://. Default: that of the binary with .minisig or .sigstore.json at its
	// end; a registry is asked for what refers to the binary.
	URL string `json:"url,omitempty"`
	// Policy is require: a plugin without a right signature does not start; warn: it starts, and piped reports
	// it; or off. Default require.
	Policy string `json:"policy,omitempty" config:"oneof=require|warn|off"`
}

func (s *PluginSignature) setDefaults() { s.Policy = SignatureRequire }

// PluginLimits are what a plugin and the programs that it starts may use; zero is no limit.
type PluginLimits struct {
	// Memory is a text like 512Mi or 2Gi.
	Memory string `json:"memory,omitempty"`
	// CPU is a number of cores, such as 0.5.
	CPU float64 `json:"cpu,omitempty"`
	// Pids is the number of processes and threads.
	Pids int `json:"pids,omitempty"`
}

// DeployTarget is a place that a plugin deploys to.
type DeployTarget struct {
	// Name is what applications choose the target by.
	Name string `json:"name" config:"required"`
	// Labels are given to the plugin.
	Labels map[string]string `json:"labels,omitempty"`
	// Config is given to the plugin; the plugin says what is in it.
	Config json.RawMessage `json:"config,omitempty"`
}

// Ways to decrypt secrets. AGE is an addition of ours; GCP_KMS is read and not carried out.
const (
	SecretsKeyPair = "KEY_PAIR"
	SecretsAge     = "AGE"
	SecretsGCPKMS  = "GCP_KMS"
)

// SecretManagement is the key that decrypts secrets in application configurations.
type SecretManagement struct {
	// Type is KEY_PAIR (RSA, as PipeCD encrypts) or AGE. GCP_KMS is read and not carried out, as in PipeCD v1.
	Type string `json:"type" config:"required,oneof=KEY_PAIR|AGE|GCP_KMS"`
	// Config is where the keys are.
	Config SecretKeys `json:"config,omitzero"`
}

// SecretKeys are the keys of the type of [SecretManagement]: for KEY_PAIR the private and public key,
// for AGE the identity; each either as a file or as base64 data.
type SecretKeys struct {
	// PrivateKeyFile is the RSA private key in PEM (KEY_PAIR).
	PrivateKeyFile string `json:"privateKeyFile,omitempty"`
	// PrivateKeyData is the content of PrivateKeyFile in base64.
	PrivateKeyData string `json:"privateKeyData,omitempty"`
	// PublicKeyFile is the RSA public key in PEM (KEY_PAIR).
	PublicKeyFile string `json:"publicKeyFile,omitempty"`
	// PublicKeyData is the content of PublicKeyFile in base64.
	PublicKeyData string `json:"publicKeyData,omitempty"`
	// IdentityFile is an age identity file (AGE).
	IdentityFile string `json:"identityFile,omitempty"`
	// IdentityData is the content of IdentityFile in base64.
	IdentityData string `json:"identityData,omitempty"`
	// KeyName is the key's name (GCP_KMS).
	KeyName string `json:"keyName,omitempty"`
	// DecryptServiceAccountFile is the account that decrypts (GCP_KMS).
	DecryptServiceAccountFile string `json:"decryptServiceAccountFile,omitempty"`
	// EncryptServiceAccountFile is the account that encrypts (GCP_KMS).
	EncryptServiceAccountFile string `json:"encryptServiceAccountFile,omitempty"`
}

// EventWatcher says where events change files.
type EventWatcher struct {
	// CheckInterval is the longest time until new events are seen. Default 1m.
	CheckInterval Duration `json:"checkInterval,omitempty" config:"positive"`
	// GitRepos narrows the event watcher for single repositories.
	GitRepos []EventWatcherRepository `json:"gitRepos,omitempty"`
}

func (e *EventWatcher) setDefaults() { e.CheckInterval = Duration(time.Minute) }

// EventWatcherRepository narrows the event watcher for one repository.
type EventWatcherRepository struct {
	// RepoID is the id of one of the repositories.
	RepoID string `json:"repoId" config:"required"`
	// CommitMessage is the message of commits for events that bring none.
	CommitMessage string `json:"commitMessage,omitempty"`
	// Includes are the event watcher files to read, in the folder .pipe. Default: all.
	Includes []string `json:"includes,omitempty"`
	// Excludes are the event watcher files not to read; they win over those to read.
	Excludes []string `json:"excludes,omitempty"`
}

// PlanPreview bounds the plan preview workers.
type PlanPreview struct {
	// WorkerNum is how many plan previews are made at a time. Default 3.
	WorkerNum int `json:"workerNum,omitempty" config:"positive"`
	// CommandQueueBufferSize is how many requests may wait. Default 10.
	CommandQueueBufferSize int `json:"commandQueueBufferSize,omitempty" config:"positive"`
	// CommandCheckInterval is the longest time until a request is seen. Default 5s.
	CommandCheckInterval Duration `json:"commandCheckInterval,omitempty" config:"positive"`
	// CommandHandleTimeout bounds the making of one plan preview. Default 5m.
	CommandHandleTimeout Duration `json:"commandHandleTimeout,omitempty" config:"positive"`
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

// LiveState bounds the looks at what runs of applications.
type LiveState struct {
	// LookTimeout is how long one look at an application may take, such as a plan of its plugin. Default 10m.
	LookTimeout Duration `json:"lookTimeout,omitempty" config:"positive"`
}

func (l *LiveState) setDefaults() { l.LookTimeout = Duration(10 * time.Minute) }
