# With non_idempotent the proxy repeats a POST as well: the work is done twice.
serve() { # Two servers behind a proxy; the first does the work and loses its answer.
  cat <<END
daemon off; pid $PWD/nginx.pid; events {}
http {
  client_body_temp_path $PWD/1; proxy_temp_path $PWD/2; fastcgi_temp_path $PWD/3; uwsgi_temp_path $PWD/4; scgi_temp_path $PWD/5;
  log_format work '\$request_method';
  access_log off;
  upstream shop { server 127.0.0.1:8081 max_fails=0; server 127.0.0.1:8082 max_fails=0; }
  server { listen 127.0.0.1:8081; access_log $PWD/work work; location / { return 502; } }
  server { listen 127.0.0.1:8082; access_log $PWD/work work; location / { return 200 "done"; } }
  server { listen 127.0.0.1:8080; location / { proxy_pass http://shop; proxy_next_upstream error timeout http_502 non_idempotent; } }
}
END
}
serve >nginx.conf
nginx -t -q -e stderr -p "$PWD" -c "$PWD/nginx.conf"
nginx -e stderr -p "$PWD" -c "$PWD/nginx.conf" &
until curl -s -o got http://127.0.0.1:8080/; do sleep 0.1; done
# Which server is first changes from request to request, so several are sent.
for _ in 1 2 3 4; do curl -s http://127.0.0.1:8080/ | grep -q done; done
: >work
for _ in 1 2 3 4; do curl -s -o posted -d amount=5 http://127.0.0.1:8080/; done
sleep 0.2
done=$(grep -c POST work)
[ "$done" -eq 4 ] || { echo "4 orders were worked on $done times"; exit 1; }
