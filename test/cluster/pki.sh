# Keys, certificates, tokens and kubeconfigs of a cluster, made once for its folder;
# up.sh reads them. They are valid for a year, and only for this cluster. Users
# authenticate with tokens; servers with certificates. The API server authenticates to
# the kubelet (ca) and to aggregated APIs (front-ca) with certificates too.
pki=$CLUSTER_STATE/pki

# authority NAME
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$1" \
    -keyout "$pki/$1.key" -out "$pki/$1.crt" 2>/dev/null
}

# certificate NAME AUTHORITY SUBJECT USAGE [SUBJECT-ALT-NAMES]
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$3" -keyout "$pki/$1.key" -out "$pki/$1.csr" 2>/dev/null
  printf 'keyUsage=digitalSignature\nextendedKeyUsage=%s\n%s\n' "$4" "${5:+subjectAltName=$5}" > "$pki/$1.ext"
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/$2.crt" -CAkey "$pki/$2.key" -CAcreateserial -days 365 -extfile "$pki/$1.ext" -out "$pki/$1.crt" 2>/dev/null
  rm "$pki/$1.csr" "$pki/$1.ext"
}

# user FILE-NAME USER GROUP: a token, and a kubeconfig that holds it.
user() {
  local token; token=$(openssl rand -hex 16)
  echo "$token,$2,$2,$3" >> "$pki/tokens.csv"
  cat > "$pki/$1.kubeconfig" <<Y
apiVersion: v1
kind: Config
clusters: [{name: millicore, cluster: {server: "https://$NODE_IP", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: $1, user: {token: $token}}]
contexts: [{name: millicore, context: {cluster: millicore, user: $1}}]
current-context: millicore
Y
}

make_pki() {
  authority ca
  authority front-ca
  certificate apiserver ca /CN=kube-apiserver serverAuth \
    "IP:$NODE_IP,IP:$API_IP,IP:127.0.0.1,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  certificate kubelet ca /O=system:nodes/CN=system:node:$NODE serverAuth "IP:$NODE_IP,DNS:$NODE"
  certificate apiserver-kubelet ca /O=system:masters/CN=kube-apiserver clientAuth
  certificate front-proxy front-ca /CN=front-proxy clientAuth
  openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
  user admin admin system:masters
  user kcm system:kube-controller-manager ""
  user scheduler system:kube-scheduler ""
  user proxy system:kube-proxy ""
  user kubelet "system:node:$NODE" system:nodes
}

if [ ! -e "$KUBECONFIG_FILE" ]; then
  rm -rf "$pki"
  (umask 077 && mkdir -p "$pki" && make_pki && cp "$pki/admin.kubeconfig" "$KUBECONFIG_FILE")
fi
